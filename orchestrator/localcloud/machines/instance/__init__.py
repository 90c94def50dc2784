"""An EC2 instance as processes of this machine.

folder.py         what does an instance have of its own, and which command is it?
first_process.py  what is its first process? (a script)
power.py          what do `shutdown`, `poweroff`, `systemd-run` do there? (a script)
own_files.py      how are these found under their absolute paths, too, and who writes /etc/hosts? (a script)
address.py        which address of this machine is its own, and at which port do several meet?
"""
