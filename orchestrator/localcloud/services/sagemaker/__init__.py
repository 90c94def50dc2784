"""SageMaker's training jobs, as real processes under the contract of SageMaker's training containers.

api.py                which operations are there? (`Trainings`, one for each Region)
request_checks.py     which requests does CreateTrainingJob refuse?
training.py           what is known of a training, and how does DescribeTrainingJob show it?
lifecycle.py          when does a training start and end, and where does it wait or fail for want of capacity?
capacity.py           which instances does a Region lack, and which trainings may wait for them?
execution.py          what happens from when a training gets its instances until it gives them back?
starter.py            what must whoever starts a training's processes be able to do?
imitated_toolkit.py   how are they started as AWS's toolkit would? (by the toolkit itself: machines/real_toolkit.py)
toolkit_command.py    which command would the toolkit run on a host?
toolkit_variables.py  which variables and arguments would it give that command?
requirements.py       how is a training's requirements.txt installed?
host.py               where are a host's folders?
container.py          what does SageMaker put into these folders?
checkpoints.py        how are checkpoints kept alike in S3 and on a host?
channel_data.py       which objects does a channel mean?
s3_files.py           how do S3's objects become files, and files an object?
metrics.py            which metrics are in a log?
failure.py            why did a training fail?
"""
