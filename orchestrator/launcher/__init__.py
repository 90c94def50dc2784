"""Inside a Batch child: one task, from its line in the manifest to an exit code.

    __main__.py   environment → task → exit code
    child.py      which line is mine
    drive.py      record, start or adopt, watch, again or elsewhere: the exactly-once protocol
    history.py    what is known of the task: attempts recorded, outcomes proven
    learning.py   metrics and their curves, from the trainings' logs
    decide.py     what comes next, as a pure function of what was tried
    world.py      clock, sleep, chance and SIGTERM, handed in so that tests never wait

The protocol and why it holds: docs/protocol.md.
"""
