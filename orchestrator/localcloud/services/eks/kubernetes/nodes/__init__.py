"""The nodes of a cluster.

nodes.py        which nodes does a cluster have?
node_groups.py  how many nodes has a group, and when does one more join?
scheduler.py    on which node is there room for a pod?
"""
