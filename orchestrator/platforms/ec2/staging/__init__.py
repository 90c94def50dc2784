"""What is prepared in a Region when a plan is submitted.

stage.py               what do all tasks share in a Region?
subnets.py             which subnets may instances be launched into?
launch_needs.py        is all there that every launch needs?
stage_reservations.py  which reservations may its tasks run in?
amis.py                from which image do instances boot?
"""
