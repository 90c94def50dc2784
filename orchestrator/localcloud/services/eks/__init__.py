"""EKS, as the local cloud plays it: a cluster in each Region, with a Kubernetes API of its own (kubernetes/).

api.py            which operations does EKS have?
cluster.py        what is a cluster made of, and what can befall it?
access.py         who may do what in a cluster?
associations.py   which role do the pods of a service account have?
pod_keys.py       how do pods come by the keys of their role?
reviews.py        what is somebody told who asks what they may do?
tokens.py         who is it that asks?
certificates.py   how does a client know that it speaks to this cluster?
web.py            how is it asked over TLS?
"""
