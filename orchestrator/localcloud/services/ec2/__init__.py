"""EC2's instances, as real processes: their user data runs.

calls/               which operations are there, and what do they say?
service.py           how do these become one service with the spot market?
launch.py            which subnet, image, profile and groups of the account does a launch mean?
capacity.py          which instances does a zone lack, and how many may the account run?
capacity_reservations.py  which instances are kept for the account, and which launches take them?
kept.py              what is a capacity reservation?
vcpus.py             what are the quotas of vCPUs?
images.py            which Deep Learning AMIs are there, and which SSM parameters name them?
instance.py          what is known of an instance and its reservation?
equipment.py         which volumes and interfaces does it bring along?
lifecycle.py         when does an instance start and end, and what befalls it?
machine.py           what is it on this machine?
metadata/            what does its metadata service say?
placement_groups.py  which placement groups are there?
spot_requests.py     what became of a spot request?
"""
