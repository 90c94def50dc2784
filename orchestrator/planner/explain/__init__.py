"""Tells in words why a plan is as it is, and why there is none.

Whatever a refusal suggests was tried: with it, there is a plan.

    why.py                why does a task go where it goes, and not where it is cheaper?
    billed.py             what is a task billed for beside the hours that it trains?
    one_more.py           what would one more slot of each quota save?
    refusal.py            why is there no plan: which limits bind, and what would do?
    shortfall.py          how many slots, hours or dollars are certainly not enough?
    hours_for_budget.py   from how many hours on may a budget do?
    in_time.py            which solutions are in time, starts included?
    remedies.py           which deadline, quotas or budget would do?
    late_starts.py        which deadline would do, where only the starts of tasks are too late?
    elsewhere.py          which Regions would do, and would moving the data?
"""
