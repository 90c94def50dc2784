"""An account that is ready: stacks, policies, and what is missing (`sweep infra`).

infra.py         what can be done with an account's stacks?
names.py         what is everything called, and what of it is the team's own?
wanted.py        what do the settings want of each platform?
policies.py      which statements does each role need?
managed.py       which managed policies have the statements of people?
data_buckets.py  which buckets do the settings let trainings read?
statements.py    which statements of several platforms are said as one?
telling.py       what does it take to tell others?
fill.py          how does sweep.toml learn what was made?
stacks/          how are stacks made, changed and taken away?
doctor/          what is missing, and which command mends it?
"""
