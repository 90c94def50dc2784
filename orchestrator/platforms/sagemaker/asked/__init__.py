"""What a sweep may ask of SageMaker alone: `platforms.sagemaker` of its file.

table.py      what may stand there, and what is wrong with it?
channels.py   how do the dataset and the fixed channels come to a training?
"""
