"""What travels into a training: it needs Python 3.8 and nothing else, and knows no other room.

    checkpoint.py   how does a training save as it goes, and go on where it stopped?
    report.py       how does it report its metrics?
    notice.py       how does it hear that its machine is about to go?
    references.py   how is it written where a secret lies?
    secrets.py      how does a training get the values of its secrets?
    aws_call.py     how is AWS asked, in an image without boto3?
    credentials.py  with whose credentials?
    signature.py    how is a request signed?
    metadata.py     how is an EC2 instance's metadata service asked?
    process.py      which rank is this process, and how does it write a line into the log?

Where AWS's toolkit cannot start what was asked:

    start.py        what does the container run?
    starter/        how do its processes start, meet and end?

Where no SageMaker brings the training:

    bare/           how is a bare machine, or a pod, for a training what SageMaker's container is?

A script writes `from orchestrator import Checkpoints, report`; `platforms/source.py` packs these files with it.
"""
