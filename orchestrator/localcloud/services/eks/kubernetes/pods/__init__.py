"""Pods, each a process of this machine.

pods.py        what does a pod look like, from its beginning to its end?
kubelet.py     how do pods run, and how do they end?
images.py      which images can be pulled?
containers.py  how does a container become a process?
"""
