"""AWS Batch: queues, job definitions, and jobs that are real processes of this machine.

api.py           which operations are there? (`Batch`, one for each Region)
submit_job.py    what does SubmitJob refuse, and what job does it make?
jobs.py          what is known of a job, and how does DescribeJobs show it?
containers.py    what does a job's container get, and may it start?
scheduler.py     when does a job start, and how does it end?
dependencies.py  which jobs wait for which others?
retry.py         is a failed attempt followed by another?
resources.py     which compute environments, queues and definitions are there?
consumables.py   what do jobs need besides a machine, and how much of it is left?
list_jobs.py     which jobs does ListJobs show?
"""
