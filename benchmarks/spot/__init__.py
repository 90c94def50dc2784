"""Plays policies for spot under a deadline on traces of what was to be had: `make bench ONLY=spot TRACES=folder`.

traces.py      which zones were open when, and at what price: read from files, or made up
simulate.py    what does a job cost under a policy, on a trace, and does it end in time?
policies.py    ours, and its rivals: uniform progress, greedy, on demand only
optimum.py     what would it cost at the least, if one knew everything beforehand?
bench.py       the figures
"""
