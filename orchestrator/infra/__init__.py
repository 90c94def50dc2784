"""An account that is ready: stacks, policies, and what is missing (`sweep infra`).

infra.py        what can be done with an account's stacks?
names.py        what is everything called, and what of it is the team's own?
wanted.py       what do the settings want of each platform?
policies.py     which statements does each role need?
data_buckets.py  which buckets do the settings let trainings read?
statements.py   which statements of several platforms are said as one?
telling.py      what does it take to tell others?
template.py     which resources are in the stacks?
network.py      how do launchers get out, where the team has no network for them?
deploy.py       how do stacks become what they should be?
stack_states.py  what stands in the way of a change, and what is to be done?
waiting.py      how is AWS waited for?
fill.py         how does sweep.toml learn what was made?
state.py        how do the stacks stand?
doctor/         what is missing, and which command mends it?
destroy.py      what goes with a stack, and what stays?
"""
