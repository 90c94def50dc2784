"""The storm: real commands, launchers and trainings on a local cloud, with faults, kills and older versions.

play.py        how long does it go on?
story.py       what befalls one run, from its submit to its end?
casts.py       who plays in a story?
commands.py    how are commands of `sweep` played, several at once, each perhaps killed?
doom.py        where is a process killed: at a call to AWS, a commit, a line?
launcher.py    how does a launcher get its version, and its doom?
versions.py    where is an older version of this code?
troubles.py    what goes wrong in the cloud meanwhile?
stage.py       which cloud, team, databases and sweeps is all this played with?
train.py       what does a training write down of itself?
audit.py       what is really there, by Batch, SageMaker and the trainings themselves?
checkpoints.py what has become of checkpoints, and what have their copies cost?
"""
