"""The market's offer to a sweep: what each cohort may choose from, how long it takes there and what it costs.

formulate.py        what does a sweep ask of a market, all in all?
cohorts.py          which tasks cost the same anywhere?
instance_counts.py  on how many instances may a task run at a place?
obstacles.py        why can a candidate not be used?
too_long.py         where would tasks outlast their timeout, or lose too much to interruptions of spot?
offer.py            which lanes, copies and limits are there, and what are their numbers?
spare_hours.py      how much time must a task on spot leave, so that its launcher lets it end there?
billing.py          what is an instance billed for, beside the hours that its training trains?
choices.py          what does a choice cost, hold and promise? Which choices does a savings plan pay for?
spot_prices.py      what does an hour of managed spot cost?
copy_prices.py      what does a copy of a dataset cost, and how long does it take?
"""
