"""Batch's verbs, and what has a job begin at a time of day.

batch.py        how are arrays submitted, found again, and asked what became of their children?
batch_job.py    what do its answers tell of a job?
definitions.py  how does a job definition get its values?
queue_errors.py what makes a queue that is not there?
scheduler.py    what starts a job at a time of day?
"""
