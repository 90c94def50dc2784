"""What we use of moto, which answers for all services that are not ours. Nothing else imports it.

backends.py     what do we use of moto?
identities.py   and of its IAM?
images.py       and of its ECR?
ec2.py          and of its EC2, and of instance profiles?
corrections.py  what does moto do otherwise than AWS?
"""
