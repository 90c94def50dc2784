"""Looks at all that a sweep needs of an account, and says what is missing and which command mends it (`sweep doctor`).

doctor.py     what is looked at, in which order, and what if we may not look?
subject.py    what is it that is looked at?
identity.py   who are we, by which clock, in which Regions?
buckets.py    do the buckets lie where they should, and keep what was overwritten?
roles.py      may the roles do what they have to?
data.py       may trainings read what the plan sends them to?
quotas.py     do the platforms' quotas bear what the plan takes?
platforms.py  does each platform find what it needs?
queues.py     can launchers run, and how many at once?
dead_letters.py  is there a queue for what EventBridge Scheduler cannot deliver?
network.py    do they find a way to S3, and what does it cost?
images.py     are the images where they are pulled?
need.py       what does a sweep need of the account?
bundle.py     what does support get to see?
"""
