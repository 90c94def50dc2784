"""Inside a Batch child: one task, from its line in the manifest to an exit code.

    __main__.py         how does a child's environment become an exit code?
    child.py            which child of which array am I, and what is my task?
    classic.py          what is the task of a line that nobody has planned?
    drive.py            how is a task brought to its end, each training started exactly once?
    decide.py           what comes next, after what was tried?
    sites.py            which site of a place, such as a zone, is asked next?
    tried.py            which attempt has ended, and how?
    keep_deadline.py    where is a task with a deadline started next, and for how long?
    spot_policy.py      where does a task with a deadline go on: spot here, spot elsewhere, on demand, or nowhere yet?
    spot_slack.py       how much slack does a task need to begin on spot, and to stay there?
    trainings.py        how are its trainings requested, started, looked at and stopped?
    watching/           when is a training looked at, what does its log say, and when is it ended?
    task_history.py     what is known of the task: which attempts are recorded, how did they end?
    moving/             how does a task go on in another Region, with its checkpoint?
    turn.py             when may a task begin, if others go ahead, or only so many may run?
    pause.py            when does a run start no more, as all its first tasks have failed alike, or a canary has?
    world.py            what time is it, and has a SIGTERM come? Tests hand in a world in which nobody waits

The protocol and why it holds: docs/protocol.md.
"""
