"""Trainings on bare EC2 instances: a machine's own program (`training/bare`) does what SageMaker's containers do.

When a sweep is planned and submitted:

    asked.py          what may a sweep ask of EC2 alone, under `platforms.ec2`?
    planning.py       what does EC2 refuse of a sweep, and what does it count?
    families.py       under which quota does an instance type count, and with how many vCPUs?
    stage.py          what do all tasks share in a Region?
    zones.py          which zone of a Region is asked first?
    stage_reservations.py  which reservations may its tasks run in?
    amis.py           from which image do instances boot?

In every launcher:

    runner.py         how is a training started or adopted, polled and stopped, and its log read?
    request.py        which RunInstances does an attempt make, and what are its machines told?
    refusals.py       what does a refusal of EC2 mean?
    user_data.py      what does an instance do when it boots, and what ends it?
    network_cards.py  which network interfaces does it have?
    machines.py       what does EC2 tell of instances?
    reservations.py   which instances are paid for already, and what can run in them?
    left.py           what do the machines tell, in S3, when EC2 has forgotten them?
    outcome.py        how does an attempt stand by both, and why?
    console.py        what has an instance printed that went without a word?
    bill.py           what has it cost?

When an account is set up:

    operating.py      what may the roles do there?
    account/          what does a Region lack, and what of ours runs there or is left?
    feeds/            how many vCPUs may run, and do?
    steps.py          where has a training spent its time so far?
"""
