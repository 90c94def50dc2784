"""The processes of the local cloud, and the containers that AWS's real toolkit wants for a training's hosts.

processes.py      how does a service start a process, signal it, and hear of its end?
own_mounts.py     what does a host have mounted that is a plain process?
own_opt_ml.py     how does it get an /opt/ml of its own? (a script)
own_names.py      how does it get a name of its own, and others's? (a script)
fuse/             how is a channel streamed?
python_layer.py   what does a training's own `pip install` change?
no_ssh.py         how does a training's own `mpirun` reach other hosts, which are all this machine?
keeper.py         who owns all processes, so that none outlives the server?

instance/         how is an EC2 instance a process?

With `--toolkit` only:

real_toolkit.py   how does AWS's own training toolkit start a training?
prerequisites.py  what must this machine have for that?
machine.py        what is written down about a training's hosts, and what command starts them?
hosts.py          how are all hosts of a training started, connected and ended? (a script)
layout.py         how does one host become a container? (a script)
pid1.py           what is the first process of a container? (a script; images in `containers/` begin with it, too)
tunnel.py         how does a host in a network of its own reach this cloud?
"""
