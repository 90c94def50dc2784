"""EC2's feeds of its own. Its prices, on demand and spot, are read by feeds that SageMaker's part brings already.

vcpu_quotas.py   how many vCPUs of each family may the account run?
vcpu_use.py      how many does it run?
reserved.py      which instances are paid for already, and how many of them are free?
savings_plans.py  which dollars are paid for every hour?
"""
