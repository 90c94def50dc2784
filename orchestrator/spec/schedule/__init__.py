"""`schedule`: when a workload is trained again by itself, and on what.

schedule.py   what may stand under `schedule`?
cron.py       how is a daily time written, and on which days is it due?
"""
