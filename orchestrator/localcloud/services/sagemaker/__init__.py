"""SageMaker training jobs, as real processes under the contract of SageMaker's training containers."""
