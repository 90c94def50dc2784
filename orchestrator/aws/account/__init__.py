"""What is there in an account, what may it use, and what does AWS ask for it?

iam.py              which roles are there, and what may they do?
networks.py         how does traffic of a subnet get out?
bucket_state.py     whose is a bucket, does it keep versions, how is it encrypted?
identity.py         whose credentials are these?
enabled_regions.py  which Regions may it use?
layers.py           how do layers get into a repository?
ecr.py              which image does a tag stand for?
service_quotas.py   how much of what may the account use?
price_list.py       what does AWS ask for a product, on demand?
savings_plans.py    which savings plans are there, and what do they make of prices?
cloudformation.py   which stacks are there, and what would a template change of them?
queues.py           which queues are there, what do they run on, and does anything wait in them?
"""
