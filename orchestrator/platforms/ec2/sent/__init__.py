"""What EC2 is sent for an attempt, and what a refusal means.

request.py        which RunInstances does an attempt make, and what are its machines told?
user_data.py      what does an instance do when it boots, and what ends it?
network_cards.py  which network interfaces does it have?
refusals.py       what does a refusal of EC2 mean?
"""
