"""Amazon EKS: each attempt is an Indexed Job of Kubernetes, in a cluster that the team has already.

runner.py      trainings as they run: start, poll, stop, logs
kept.py        what is kept of a training in S3?
look.py        how does one stand now?
verdict.py     how has one ended, from all that is known?
planning.py    what can be planned?
asked.py       what may a sweep and the settings say?
stage.py       how is a Region prepared?
operating.py   what does it need in an account?
alive.py       what of ours runs?
leftovers.py   what have trainings left in clusters?
zones.py       in which zones are pods?
bill.py        what have spot nodes cost there?
spot_prices.py what are they expected to cost?
steps.py       what has a training gone through?
feeds.py       what do nodes cost, and how many are there?
supply.py      how many nodes has a cluster, and how many may it have?
account/       what does infra make, and what does the doctor look at?
sent/          what is sent for an attempt, and how is it started?
kube/          how is a cluster asked, and what do its answers say?
"""
