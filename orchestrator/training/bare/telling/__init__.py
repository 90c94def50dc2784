"""What a bare machine tells of its training, while it runs and at the end.

logs.py     how do lines come into CloudWatch?
usage.py    how much does it use of processors, memory and GPUs?
outcome.py  how is it told how a machine ended?
"""
