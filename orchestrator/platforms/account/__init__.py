"""A platform in an account: what is set up for it there, looked at, and removed again.

operating.py    what must a platform's part for setting accounts up be able to do?
wanted.py       what does a team want of a platform in a Region?
finding.py      how does one thing stand that it needs in an account?
leftover.py     what may trainings leave behind, and who removes it?
statements.py   how is it written what a role may do?
"""
