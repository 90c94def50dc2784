"""SageMaker's feeds: AWS's answers as rows of the catalog. EC2's prices stand in for what SageMaker does not publish.

training_prices.py   what does an hour of training cost on demand?
training_quotas.py   how many instances may the account train on?
training_use.py      how many do its trainings use?
ec2_prices.py        what does an hour of an EC2 instance cost on demand?
ec2_spot_prices.py   what does it cost on the spot market?
spot_advice.py       how often are spot instances taken back?
placement_scores.py  how likely are spot instances granted?
training_plans.py    which instances are paid for already, and when?
savings_plans.py     which dollars are paid for every hour?
instance_shapes.py   what are instance types made of?
spot_history.py      how have EC2's spot prices changed?
every.py             which feeds are there, in which order?
hourly.py            how do products of the Price List become rows of prices?
"""
