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

The starter, where AWS's toolkit cannot start what was asked:

    start.py        what does the container run?
    machine.py      what does a machine know of its training?
    variables.py    what is in the training's environment?
    words.py        which words make up its command?
    launch.py       which command line starts its processes: alone, by torchrun, by mpirun?
    command.py      how is a command run, stopped, and its error found?
    meeting.py      how do the machines of an MPI training wait for each other?
    ranks.py        how does SIGTERM reach MPI's ranks?

Where no SageMaker brings the training:

    bare/           how is a bare machine, or a pod, for a training what SageMaker's container is?

A script writes `from orchestrator import Checkpoints, report`; `platforms/source.py` packs these files with it.
"""
