"""A task goes on in another Region: where, and with its checkpoint.

moves.py       how is a checkpoint brought to where the next attempt runs, once, whoever is killed on the way?
leaving.py     when is a training stopped, so that its task goes on elsewhere?
closing.py     what is paid of a move whose launcher is gone?
checkpoint.py  where in S3 is the newest checkpoint, and what of it is missing elsewhere?
newest.py      which objects make up the newest checkpoint that is whole?
saved.py       what does it take to bring it to another Region?
"""
