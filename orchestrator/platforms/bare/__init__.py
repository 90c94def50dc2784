"""What platforms share whose machines are bare: on the machines themselves, `training/bare` runs.

template.py     what do all tasks of a Region share?
assignment.py   what is one attempt's machine told?
"""
