"""Expected hours of tasks: for each dataset, each size and each instance type, and from which source they are known.

runtimes.py        how long does a task take on each instance type, and where is that known from?
file_hours.py      what does a runtime of the sweep file say?
learn.py           what do the finished tasks of earlier runs say of it?
learned.py         what was learned, and what does it say of other data, sizes and types?
learned_notes.py   what does the plan's reader hear of it?
pinned_runtimes.py  what if a person has pinned them?
lane_times.py      how long is a slot held beside that, and how often does a lane refuse machines?
regression.py      how is a line fitted that outliers hardly move?
scaling.py         how many times as fast is a task on several instances, and who says so?
useful_counts.py   which numbers of instances are worth a look?
speed.py           how fast is an instance type beside a V100, as long as nobody has measured it?
sizes.py           which values do size parameters have, size by size?
interruptions.py   how much longer does a task hold a spot instance, interruptions included?
"""
