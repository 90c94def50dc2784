"""Jobs, from the first pod to the end.

jobs.py      which pods does a Job have, and when has it ended?
policies.py  what does a pod's end mean to its Job?
queues.py    may a Job begin that waits in a queue of Kueue's?
"""
