"""IAM's judgement: may this caller do that? `sweep local up --iam` has it asked before every call.

patterns.py      when does a pattern with stars mean a name, or an ARN?
policy.py        what does a policy's document say?
conditions.py    does a statement's condition hold?
evaluation.py    what comes of all policies of a caller together?
identities.py    who is a caller, and which policies has it?
needs/           which permissions does a call take?
authority.py     may a call be made?
web_identities.py  who may take a role on with a token instead of keys?
service_roles.py what may a service do under a role that it was handed?
refusal.py       in which words does each service refuse?
"""
