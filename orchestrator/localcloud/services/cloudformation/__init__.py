"""CloudFormation makes, changes and takes away stacks. What it makes, the services of this cloud make.

api.py          the operations
stack.py        what is a stack, a change set, a resource, an event?
template.py     what may a template hold?
intrinsics.py   what do Ref, Fn::GetAtt and Fn::Sub stand for?
changes.py      what does a new template change?
execution.py    in which order is a change set carried out, and undone?
drift.py        how do resources differ from what was asked for?
caller.py       how are the services of this cloud called?
kinds/          how is each type of resource made, read back, changed and deleted?
"""
