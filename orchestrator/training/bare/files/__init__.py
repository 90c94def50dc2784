"""Brings files from S3 to a bare machine, and what it has made back there.

bucket.py    how is S3 read and written?
transfer.py  how do many files, and large ones, come from S3 and get there?
folders.py   what lies below /opt/ml when the training starts, and what is kept of it?
saving.py    how do checkpoints come to S3 while it runs, and back?
"""
