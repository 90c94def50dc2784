"""AWS's services, as the local cloud plays them. What is not here, moto plays.

batch/            how does AWS Batch run jobs?
sagemaker/        how does SageMaker run trainings?
eks/              how does a Kubernetes cluster run Jobs?
ec2/              how does EC2 run instances?
cloudformation/   how are stacks made, changed and taken away?
market/           which prices, quotas and spot markets does AWS show?
schedules/        what happens when a schedule is due? (EventBridge Scheduler)
moto/             what do we use of moto?
logs.py           how does what a process prints get into CloudWatch Logs?
events.py         who hears of a change of a job or a training? (EventBridge)
quotas.py         how many instances may an account hold?
iam.py            what may a principal do? (IAM's simulator)
resource_tags.py  which tags does something have?
base_image.py     which image can others be made on, in a registry of this cloud's own?
ecr.py            where does a container image lie?
s3.py             which Region answers for a bucket?
"""
