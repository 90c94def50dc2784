"""What a workload or an owner may spend in a month: runs hold envelopes of it, and give back what they did not need.

budget.py        which budgets does a run draw on?
month.py         what is written down of a budget's month? (the envelopes of its runs)
hold.py          how does a run get its envelope, so that two at once never pass the budget?
"""
