"""Images: docker's are pushed to every Region, and the launcher's is made without docker.

push.py       how does an image of docker's get into every Region?
launcher.py   what is the launcher's image made of, and is it in ECR?
packages.py   which files does it have beside those of its base?
layer.py      how do files become a layer, the same bytes each time?
base.py       which image is it made on?
registry.py   how is a base read from a registry?
layout.py     how is a base read from a file?
compose.py    what does ECR have to be told of base and layer?
"""
