"""Trainings on bare EC2 instances: a machine's own program (`training/bare`) does what SageMaker's containers do.

When a sweep is planned and submitted:

    asked.py         what may a sweep ask of EC2 alone, under `platforms.ec2`?
    planning.py      what does EC2 refuse of a sweep, and what does it count?
    families.py      under which quota does an instance type count, and with how many vCPUs?
    staging/         what do all tasks share in a Region: images, subnets, reservations?
    zones.py         which zone of a Region is asked first?

In every launcher:

    runner.py        how is a training started or adopted, polled and stopped, and its log read?
    sent/            what is sent for an attempt, and what does a refusal mean?
    watching/        how does an attempt stand, why, and what has it cost?
    reservations.py  which instances are paid for already, and what can run in them?

When an account is set up:

    operating.py     what may the roles do there?
    account/         what does a Region lack, and what of ours runs there or is left?
    feeds/           how many vCPUs may run, and do?
"""
