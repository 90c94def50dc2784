"""Other people's clients on the local cloud, each in an environment of its own below .bench.

__main__.py     installs them: `make clients`
sdk2_fit.py     the SageMaker SDK v2: fit, and attach
sdk3_train.py   the SageMaker SDK v3: ModelTrainer
flow.py         Metaflow: a step on Batch

AWS's own command line has its tests in tests/localcloud/test_aws_cli.py.
"""
