"""Who is told what becomes of runs: one payload for each event, to SNS and to webhooks.

notice.py        what is an event, and what is said of it?
channels.py      who is told of which events?
send.py          how does it get there, once, and without holding anything up?
webhook.py       how is it posted, and signed?
"""
