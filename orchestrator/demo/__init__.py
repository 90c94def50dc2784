"""Driving campaigns that are made up, and the main job: one sweep over them through a whole AWS on this machine.

main.py          what does `sweep demo` do, step by step?
nights.py        what does `sweep demo --nightly` do?
sample_data.py   what has a team before its first sweep? (recordings in S3, and a catalog)
driving.py       where do the recordings come from?
sweep.yaml       what is trained?
nights.yaml      what is trained every night?
training/        how is it trained?
market/          what do machines cost, and how many may be held?
"""
