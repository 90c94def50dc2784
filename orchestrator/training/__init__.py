"""What travels into a training: it needs Python 3.8 and nothing else, and knows no other room.

    checkpoint.py   how does a training save as it goes, and go on where it stopped?
    report.py       how does it report its metrics?
    notice.py       how does it hear that its machine is about to go?
    process.py      which rank is this process, and how does it write a line into the log?

A script writes `from orchestrator import Checkpoints, report`; `platforms/source.py` packs these files with it.
"""
