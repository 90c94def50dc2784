"""What goes wrong on command, and where each fault takes effect.

faults.py         what can go wrong, which calls does a fault hit, and what has been asked for?
known_calls.py    which calls can it mean?
call_faults.py    what does a caller see whose call a fault hits?
cloud_faults.py   when does a fault begin and end, and which service takes it?

Where each kind takes effect:

| kind                                      | file | what happens there |
| ----------------------------------------- | --- | --- |
| throttle, deny, error, slow, reset, stale, down | call_faults.py | a call is answered otherwise than by its service |
| capacity                                  | services/sagemaker/lifecycle.py | waiting trainings get no instances |
|                                           | services/ec2/capacity.py | a zone has no more instances |
| quota                                     | services/quotas.py | the limit is another |
|                                           | services/sagemaker/api.py | a training above the limit is refused |
|                                           | services/ec2/vcpus.py | the limit of vCPUs is another |
| reclaim                                   | services/sagemaker/lifecycle.py | a spot training loses its instances |
|                                           | services/ec2/lifecycle.py | a spot instance has its notice, then ends |
|                                           | services/batch/scheduler.py | a job loses its host |
| rebalance                                 | services/ec2/lifecycle.py | a spot instance is recommended to be moved |
| crash                                     | services/sagemaker/lifecycle.py | a training's instances fail |
|                                           | services/ec2/lifecycle.py | an instance's host fails |
| kill                                      | all of these | processes are killed |

`reclaim`, `rebalance`, `crash` and `kill` happen once; the others last until their time is over or they are taken back.
"""
