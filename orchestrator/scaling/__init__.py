"""What more machines are worth: one training on several numbers of instances, timed.

scaling.py   how are the runs begun, and read?
steps.py     which runs are made, on which lane?
figures.py   how much faster is it on more instances, and which `train.efficiency` is that?
chart.py     how is it drawn, beside the ideal line?
"""
