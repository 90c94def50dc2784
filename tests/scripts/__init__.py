"""Scripts of packages that pip installs, as they are: each a sweep that trains one point on the local cloud.

`make scripts` installs the packages, in an environment of their own. None of their code is here.
"""
