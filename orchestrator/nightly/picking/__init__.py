"""What a night trains: that which its workload has not trained yet.

take.py      what does a night train that no other night trains now?
pick.py      what is there tonight, and what of it is new?
choose.py    which tasks are not trained yet, as few sweeps that have just these?
keys.py      what is a task by its content, whatever its data is called?
marks.py     what is data by its content?
under_way.py which tasks are in whose hands?
trained.py   what has a workload trained so far?
picked.py    what is written down of it, for all that comes after?
"""
