"""User data under the real cloud-init, at the real 169.254.169.254: `make cloud-init`.

machine.py          how does an instance of the local cloud become a container that cloud-init boots? (a script)
test_cloud_init.py  does user data run there as it does without?
test_platform.py    and a training of the platform of EC2?
"""
