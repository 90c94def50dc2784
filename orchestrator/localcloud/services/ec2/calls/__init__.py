"""Calls to EC2: what they ask for, and how they are answered.

instances.py        which operations on instances are there? (`Instances`, one for each Region)
groups_and_tags.py  and on placement groups and tags?
reservations.py     and on capacity reservations?
wire.py             how are EC2's forms and XML read and written in boto3's names?
request_checks.py   which requests does RunInstances refuse for what they say?
client_tokens.py    which request has been sent before?
filters.py          which instances does a call mean, and on which page?
show.py             what do calls show of an instance?
"""
