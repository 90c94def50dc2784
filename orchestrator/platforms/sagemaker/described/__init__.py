"""What SageMaker tells of trainings, above all by DescribeTrainingJob.

outcome.py   how does an attempt stand, and why?
held.py      which machines does a training have, and are they those that were asked for?
waits.py     how long did a training wait for machines, and how often did it lose them?
steps.py     where has a training spent its time so far?
alive.py     what of ours runs in a Region, whatever is written down of it?
"""
