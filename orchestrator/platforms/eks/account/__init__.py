"""What EKS needs in an account: what infra makes there, and what the doctor looks at.

resources.py    what does CloudFormation make?
check.py        what is looked at in a Region, in which order?
subject.py      what is it that is looked at?
cluster.py      is the cluster there, new enough, and reached?
access.py       do launchers have an access entry, and what may we do ourselves?
pod_role.py     do pods get the keys of a role?
namespace.py    are namespace, service account, queue and volumes there?
room.py         does the namespace's quota bear what a plan takes, and are there nodes for its lanes?
"""
