"""The Kubernetes API of a cluster, as far as trainings need it.

clusters.py   where is a cluster?
token.py      how does it know who asks?
api.py        what can it be asked, and what do its refusals mean?
job.py        has a Job ended, and why?
nodes.py      what is a node made of, and how is it paid for?
node_pools.py  what may a node pool of Karpenter still make?
quantities.py  how many are 500m?
pods.py       how far have its pods come?
queues.py     has Kueue a queue of a name, and does it let anything begin?
"""
