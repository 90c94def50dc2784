"""A small Kubernetes API, with what runs its Jobs: the pods are processes of this machine.

requests.py     what is asked of it, and what is answered?
resources.py    which kinds of objects are there, at which paths?
fields.py       which fields of an object are known?
checks.py       what is wrong with an object?
status.py       how is a request refused?
store.py        where are the objects?
reading/        what is somebody told who lists or watches them?
quantities.py   how many are 500m?
quotas.py       may a namespace have one more?
jobs.py         which pods does a Job have, and when has it ended?
policies.py     what does a pod's end mean to its Job?
pods.py         what does a pod look like, from its beginning to its end?
nodes.py        which nodes does a cluster have?
node_groups.py  how many nodes has a group, and when does one more join?
scheduler.py    on which node is there room for a pod?
kubelet.py      how do pods run, and how do they end?
images.py       which images can be pulled?
containers.py   how does a container become a process?
"""
