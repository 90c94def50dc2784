"""The Kubernetes API of a cluster, as far as trainings need it.

clusters.py   where is a cluster?
token.py      how does it know who asks?
api.py        what can it be asked, and what do its refusals mean?
job.py        has a Job ended, and why?
pods.py       how far have its pods come?
"""
