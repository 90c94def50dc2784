"""What crosses to a Batch child and back: tasks and templates on the way there, attempts and results on the way back.

A launcher pays for every import, so this room needs the standard library only.

    names.py      what is every S3 key, training and array called?
    task.py       what is one training, and where may it run?
    envelope.py   what does another attempt take of a task's dollars at the least?
    ranges.py     which tasks are meant, in few words?
    manifest.py   how are tasks written down, a line each, and how does a child find its own line?
    template.py   what do all tasks of a Region share?
    result.py     how does a task stand, and how did each of its attempts end?
    reasons.py    how is a long reason told in one line, and which say the same?
    beside/       what else do launchers and commands leave in the bucket, beside tasks and results?
    curve.py      which metrics does a log report, and how do they become a short curve?
    variables.py  what does a job definition's environment say?
    exits.py      what does a launcher's exit code mean?
    shapes.py     what is an instance type made of?
    stored.py     which version has a stored object, and how is it read that another version wrote?
"""
