"""The permissions that calls take, as the Service Authorization Reference lists them, a file for each of the services
that jobs and trainings use.

https://docs.aws.amazon.com/service-authorization/latest/reference/reference_policies_actions-resources-contextkeys.html

find.py       which permissions does a call take, whatever its service?
scene.py      what is known where a call is made: account, Region, tags?
storage.py    S3
jobs.py       Batch
trainings.py  SageMaker: its training jobs, and its registry of models
instances.py  EC2
plain.py      services whose calls take one permission on one resource
"""
