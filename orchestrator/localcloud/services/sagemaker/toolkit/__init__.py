"""The start of a training's processes, as AWS's sagemaker-training toolkit starts them.

starter.py            what must whoever starts a training's processes be able to do?
imitated.py           how are they started as AWS's toolkit would? (by the toolkit itself: machines/real_toolkit.py)
command.py            which command would the toolkit run on a host?
variables.py          which variables and arguments would it give that command?
requirements.py       how is a training's requirements.txt installed?
"""
