"""AWS's verbs, a file per service. They do what they are called for: what to do is chosen elsewhere.

session.py      who makes the clients?
errors.py       which of our errors is an error of AWS?
regions.py      which names can Regions have?
answers.py      what if an answer lacks what it should have?
s3.py           how are objects read, and written on a condition?
copies.py       how is an object copied into another bucket, in parts that stay if we are killed?
control.py      what does a run keep in the control bucket, and who may overwrite it?
turns.py        how many of a run may run at once, and who goes ahead of its lane?
account/        what is there in an account, and what does AWS ask for it?
jobs/           how do jobs begin, at once or at a time of day, and what became of them?
messages/       how is somebody told, and what lies in a queue?
secrets.py      is a secret where it is said to be?
secret_values.py  what is in a secret of our own?
model_packages.py  what does SageMaker's Model Registry hold?
logs.py         which lines has a log stream got since the last look?
"""
