"""An account that is ready: stacks, policies, and what is missing (`sweep infra`).

infra.py        what can be done with an account's stacks?
names.py        what is everything called, and what of it is the team's own?
policies.py     which statements does each role need?
template.py     which resources are in the stacks?
network.py      how do launchers get out, where the team has no network for them?
"""
