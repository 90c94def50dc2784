"""AWS on paper: Batch, SageMaker and S3 in one process, fast, with a time that jumps. A fork copies all of it.

hub.py         who acts when, and what time is it?
cloud.py       what does product code get in place of boto3's clients?
weather.py     what goes wrong with calls?
s3.py          which objects are there?
batch.py       which jobs are there, and who starts and ends launchers?
sagemaker.py   which trainings are there, when does each begin and end, and was one too many?
"""
