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
| quota                                     | services/quotas.py | the limit is another |
|                                           | services/sagemaker/api.py | a training above the limit is refused |
| reclaim                                   | services/sagemaker/lifecycle.py | a spot training loses its instances |
|                                           | services/batch/scheduler.py | a job loses its host |
| crash                                     | services/sagemaker/lifecycle.py | a training's instances fail |
| kill                                      | both of these | processes are killed |

`reclaim`, `crash` and `kill` happen once; the others last until their time is over or they are taken back.
"""
