"""AWS's own container images for trainings.

named.py      which of them does a sweep name, by `framework` or by its URI?
contents.py   which versions carry what?
tables.py     which versions, Pythons and Regions are there, as the SageMaker SDK knows?
by_uri.py     is one that is named by its URI for trainings on these instance types?
check.py      is there the image that a framework asks for, on these instance types?
"""
