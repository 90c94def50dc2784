"""Amazon SageMaker training jobs, by plain CreateTrainingJob under the `sagemaker-training` toolkit's contract.

At submit:

    stage.py     what do all tasks share in a Region, and how do the sources get there?
    images.py    which container image does a training run in?

In every launcher:

    job.py       how is a training started or adopted, polled and stopped, and its log read?
    request.py   which CreateTrainingJob request does an attempt make?
    parallel.py  which hyperparameters make the toolkit start processes as the sweep says?
    network.py   which variables does libfabric need for the network between instances?
    outcome.py   what does DescribeTrainingJob say of how an attempt stands, and why?
"""
