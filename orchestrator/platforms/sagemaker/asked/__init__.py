"""What a sweep may ask of SageMaker alone: `platforms.sagemaker` of its file, over what a team's settings say there.

table.py          what may stand there, and what is wrong with it?
channels.py       how do the dataset and the fixed channels come to a training?
file_systems.py   which file systems may be channels?
paths.py          where in S3 do models and checkpoints go?
preferences.py    which places may one request ask for, by instance preferences?
security.py       which role, network and keys do trainings have, and from what are they cut off?
verbatim.py       what may be sent to CreateTrainingJob as it is?
"""
