"""EC2's instances, as real processes: their user data runs.

api.py               which operations on instances are there? (`Instances`, one for each Region)
group_api.py         and on placement groups and tags?
service.py           how do these become one service with the spot market?
wire.py              how are EC2's forms and XML read and written in boto3's names?
request_checks.py    which requests does RunInstances refuse for what they say?
launch.py            which subnet, image, profile and groups of the account does one mean?
client_tokens.py     which request has been sent before?
capacity.py          which instances does a zone lack, and how many may the account run?
vcpus.py             what are the quotas of vCPUs?
images.py            which Deep Learning AMIs are there, and which SSM parameters name them?
instance.py          what is known of an instance and its reservation?
equipment.py         which volumes and interfaces does it bring along?
lifecycle.py         when does an instance start and end, and what befalls it?
machine.py           what is it on this machine?
metadata/            what does its metadata service say?
show.py              what do calls show of it?
filters.py           which instances does a call mean, and on which page?
placement_groups.py  which placement groups are there?
spot_requests.py     what became of a spot request?
"""
