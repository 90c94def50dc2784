"""The planning problem as arrays: what there is to choose from, what may not be exceeded, and what was chosen.

problem.py       what may not be exceeded? (quotas, savings plans, horizon, closing times, budget)
choices.py       what is known of a choice? (hours, wait, cost, promise)
solution.py      what was chosen, what does it cost, and how far is that from the bound?
commodities.py   which cohorts are alike to the solver?
busy_hours.py    how full can a slot get, given that tasks are whole?
time_limit.py    how is planning cut short?
arrays.py        which types do arrays have, and how nearly must two sums agree?
"""
