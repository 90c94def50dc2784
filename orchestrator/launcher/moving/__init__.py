"""A task goes on in another Region: where, and with its checkpoint.

newest.py    which objects in S3 are the newest checkpoint that is whole?
saved.py     where does a task's newest checkpoint lie, and what does it take to bring it elsewhere?
moves.py     how is a checkpoint brought to where the next attempt runs, once, whoever is killed on the way?
"""
