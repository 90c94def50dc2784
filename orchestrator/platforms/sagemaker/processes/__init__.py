"""Starts a training's processes: by AWS's toolkit or our starter, under MPI, torchrun or alone.

starting.py          who starts a training's processes: AWS's toolkit, or our starter?
parallel_support.py  which images and instance types can start processes as `train.parallel` says?
mpi_options.py       which options of mpirun would be set twice?
parallel.py          which hyperparameters make the toolkit start processes as the sweep says?
"""
