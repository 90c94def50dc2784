"""Rows become candidates: on what can the datasets of one sweep be trained, and for how much?

survey.py            what can the datasets of one sweep be trained on, and for how much?
select_datasets.py   which datasets does a sweep train on?
lines.py             which datasets do the lines of a classic JOBARRAY stand for?
select_types.py      which instance types does `where.resources` stand for?
for_sale.py          which lanes may a sweep buy?
starts.py            how long does a training take to start, how many may start in an hour, and what is billed?
commitments.py       which training plans and savings plans may a sweep use?
infeasible.py        why can a dataset be trained nowhere?
"""
