"""Chaos: runs that are killed, doubled and cut off anywhere, and then counted by what is really there.

    make chaos SEED=7 MINUTES=5

__main__.py    how long does it go on, and what is printed?
story.py       what befalls one run, from its submit to its end?
commands.py    how are commands of `sweep` played, several at once, each perhaps killed?
doom.py        where is a process killed: at a call to AWS, a commit, a line?
launcher.py    how does a launcher get its own doom?
troubles.py    what goes wrong in the cloud meanwhile?
stage.py       which cloud, team and sweep is all this played with?
train.py       what does a training write down of itself?
audit.py       what is really there, by Batch, SageMaker and the trainings themselves?

The same seed draws the same stories. What comes of them depends on the machine's clock as well.
"""
