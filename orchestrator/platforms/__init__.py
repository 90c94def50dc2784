"""Platforms: the ways of running one training somewhere. One protocol, and a package for each platform.

    base.py         what must a platform be able to do?
    registry.py     which platform does a lane's name mean?
    conformance.py  does a platform keep the promises of base.py?
    source.py       how does a training's code become one archive?
    sagemaker/      Amazon SageMaker training jobs

A new platform is a package beside `sagemaker`, a line in `registry.py`, and a test class of `conformance.Conformance`.
"""
