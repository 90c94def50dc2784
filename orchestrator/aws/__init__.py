"""AWS's verbs, a file per service. They do what they are called for: what to do is chosen elsewhere.

session.py      who makes the clients?
errors.py       which of our errors is an error of AWS?
s3.py           how are objects read, and written on a condition?
control.py      what does a run keep in the control bucket, and who may overwrite it?
turns.py        how many of a run may run at once, and who goes ahead of its lane?
batch.py        how are arrays submitted, found again, and asked what became of their children?
queues.py       which queues are there, what do they run on, and does anything wait in them?
definitions.py  how does a job definition get its values?
iam.py            which roles are there, and what may they do?
networks.py      how does traffic of a subnet get out?
bucket_state.py   whose is a bucket, does it keep versions, how is it encrypted?
identity.py     whose credentials are these?
ecr.py          which image does a tag stand for?
secrets.py      is a secret where it is said to be?
price_list.py   what does AWS ask for a product, on demand?
cloudformation.py  which stacks are there, and what would a template change of them?
service_quotas.py  how much of what may the account use?
logs.py         which lines has a log stream got since the last look?
"""
