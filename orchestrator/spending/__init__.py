"""What a month has cost: by workload, owner, Region, day or run, and how far that is from AWS's bill.

paid.py          what was paid, attempt by attempt, and what is not known?
month.py         how does it add up?
bill.py          what does AWS's Cost and Usage Report say?
month_chart.py   how is it drawn?
"""
