"""The CloudFormation stacks of an account: one in the control Region, and one in each Region that is trained in.

template.py         which resources are in the stacks?
network.py          how do launchers get out, where the team has no network for them?
deploy.py           how do stacks become what they should be?
blocking_states.py  what stands in the way of a change, and what is to be done?
waiting.py          how is AWS waited for?
state.py            how do the stacks stand?
destroy.py          what goes with a stack, and what stays?
"""
