"""What runs have taught, lane by lane.

attempts.py       which row does each attempt of a result become?
lane_history.py   how long do trainings of a lane take to start, how often does it refuse, and how often interrupt?
marks.py          what has a person said of what is learned: pinned, unpinned, forgotten?
"""
