"""The hosts of a training, and the objects in S3 that become their files.

host.py               where are a host's folders?
container.py          what does SageMaker put into these folders?
checkpoints.py        how are checkpoints kept alike in S3 and on a host?
channel_data.py       which objects does a channel mean?
s3_files.py           how do S3's objects become files, and files an object?
"""
