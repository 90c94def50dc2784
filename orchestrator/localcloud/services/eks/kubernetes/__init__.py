"""A small Kubernetes API, with what runs its Jobs: the pods are processes of this machine.

requests.py     what is asked of it, and what is answered?
resources.py    which kinds of objects are there, at which paths?
fields.py       which fields of an object are known?
checks.py       what is wrong with an object?
status.py       how is a request refused?
store.py        where are the objects?
quantities.py   how many are 500m?
quotas.py       may a namespace have one more?
reading/        what is somebody told who lists or watches them?
jobs/           which pods does a Job have, and what does the end of one mean?
pods/           how do pods run?
nodes/          which nodes are there, and which has room?
"""
