"""Makes a bare machine, or a pod, be for a training what SageMaker's container is. Python 3.8, and nothing else.

A platform puts one *assignment* into S3 (`assignment.py`), once for all machines of an attempt. Each machine runs

    python3 -m orchestrator.training.bare s3://bucket/folder/assignment.json SHA256-OF-IT

in a folder where these files lie. `make_stub` of `stub.py` brings them there: it is short enough for user data or a
pod's command, and needs nothing but python3. What happened stands in S3 before the program ends. Below the assignment's
`output` it writes

    machines/<index>/here.json      where the machine is to be found: the others wait for it
    machines/<index>/outcome.json   how it ended (`telling/outcome.py`): the last that it writes
    began.json                      put once, by the first machine of a training whose machines may come and go
    leave.json                      put once, by the first machine that fails or is taken away, or by whoever stops the
                                    training: every machine looks at it, and leaves too (`together/leave.py`)
    output/model.tar.gz             what /opt/ml/model holds; output/output.tar.gz what /opt/ml/output/data does. Those
                                    of further machines are called model-<index>.tar.gz

and it sends the log to the stream `<training>/rank-<index>` of the assignment's log group while it runs. It ends with
the training's exit code, or with 75 where it left for another reason.

    assignment.py   what is a machine told?
    stub.py         how do these files come to the machine?
    machine_run.py  in which order is everything done?
    files/          how do code, data and checkpoints come from S3, and get there?
    together/       how do the machines of a training find each other, and leave together?
    running/        how does the training's own process run, and what is around it?
    telling/        what is told of it: its log, what it uses, how it ended?
    notices.py      who says that this machine is about to go?

It reads these variables, beside AWS's own (AWS_ENDPOINT_URL, AWS_EC2_METADATA_SERVICE_ENDPOINT, credentials):

    SWEEP_BASE          the folder that is /opt/ml, for images that cannot have that; so is SAGEMAKER_BASE_DIR
    SWEEP_INDEX         which of the machines it is, from 0; by default JOB_COMPLETION_INDEX, or what EC2 says
    SWEEP_ADDRESS       where the others find it; by default what EC2 says, or the address that leads out
    SWEEP_ENDS_S        seconds after which a pod ends, whatever hangs; the stub notes in SWEEP_ENDS_AT when that is
    SWEEP_HOSTS_FILE    where the names algo-1, algo-2 ... are written; by default /etc/hosts, or nowhere if another
                        folder is /opt/ml. Then, or where it cannot be written, machines are known by their addresses
"""
