"""Platforms: the ways of running one training somewhere. One contract, and a package for each platform.

    base.py               what must a platform be able to do?
    billing.py            what does a platform bill beside the time that trainings train?
    start.py              how long do trainings take to start, and how many may start at once?
    sites.py              which part of a lane, such as a zone, is asked first, where it has several?
    unplanned.py          what may it be able to do besides, for manifests without a plan?
    lives.py              what does a platform tell of trainings by itself, whatever is written down?
    registry.py           which class is it that a platform's name stands for?
    spot_price_paid.py    what did an hour of spot cost while instances lived?
    feed.py               what does AWS tell of prices and quotas, in rows of the catalog?
    savings_rows.py       what does a savings plan take off, as a row of the catalog?
    refusals.py           why can a sweep's trainings not run on a lane?
    network_ids.py        what is the id of a subnet, or of a security group?
    network_variables.py  which variables does the network between instances need?
    source.py             how does a training's code become one archive?
    conformance/          does a platform keep the promises of base.py?
    account/              what must it be able to do where accounts are set up?
    bare/                 what do platforms share whose machines are bare?
    sagemaker/            Amazon SageMaker training jobs
    ec2/                  bare EC2 instances
    eks/                  pods of a cluster of EKS

A new platform is a package of its own with three entry points, and a test class of `Conformance` of
`conformance/suite.py`. It need not be part of this one.
"""
