"""What the answers of the larger commands look like on a screen.

beside.py          what does a run cost beside its trainings?
status.py          how is the status of a run shown?
follow.py          how is a run watched?
frontier.py        how are the plans of `sweep plan --frontier` shown?
discover.py        how is it shown what `sweep catalog discover` has found?
refresh.py         how is it shown what `sweep catalog refresh` has brought?
infra.py           how are the stacks of an account shown?
metric_warning.py  who says that nothing ranks the results, or that no log has a metric?
limit_words.py     how is a limit told?
pause_words.py     how is it said that a run is paused?
"""
