"""Platforms: the ways of running one training somewhere. One contract, and a package for each platform.

    base.py                   what must a platform be able to do?
    operating.py              what must its part for setting accounts up be able to do?
    start.py                  how long do trainings take to start, and how many may start at once?
    unplanned.py              what may it be able to do besides, for manifests without a plan?
    lives.py                  what does a platform tell of trainings by itself, whatever is written down?
    leftover.py               what may trainings leave behind, and who removes it?
    registry.py               which class is it that a platform's name stands for?
    conformance.py            does a platform keep the promises of base.py?
    conformance_operating.py  does its operating part?
    conformance_subject.py    what does that suite start its trainings with?
    wanted.py                 what does a team want of one in a Region?
    finding.py                how does one thing stand that it needs in an account?
    spot_price_paid.py        what did an hour of spot cost while instances lived?
    feed.py                   what does AWS tell of prices and quotas, in rows of the catalog?
    refusals.py               why can a sweep's trainings not run on a lane?
    bare_template.py          what do all tasks of a Region share, where machines are bare?
    bare_assignment.py        what is one attempt's machine told there?
    statements.py             how is it written what a role may do?
    network_ids.py            what is the id of a subnet, or of a security group?
    network_variables.py      which variables does the network between instances need?
    source.py                 how does a training's code become one archive?
    sagemaker/                Amazon SageMaker training jobs
    ec2/                      bare EC2 instances
    eks/                      pods of a cluster of EKS

A new platform is a package of its own with three entry points, and a test class of `conformance.Conformance`. It need
not be part of this one.
"""
