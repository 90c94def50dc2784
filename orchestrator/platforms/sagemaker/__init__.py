"""Amazon SageMaker training jobs, by plain CreateTrainingJob under the `sagemaker-training` toolkit's contract.

stage.py     the submit side: uploads the sources, finds the image, builds a Region's template
parallel.py  what the toolkit wants to be told about how processes start
network.py   what libfabric wants to be told about the network between instances
request.py   template + task + place + attempt → CreateTrainingJob. Pure
outcome.py   DescribeTrainingJob → how an attempt stands, and why. Pure
job.py       start or adopt, poll, stop, logs
"""
