"""EventBridge Scheduler, as the local cloud plays it.

schedules.py    what happens when a schedule is due?
timetable.py    when is a schedule due next?
job_starter.py  may a schedule's role submit that job?
"""
