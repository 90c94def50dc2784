"""What we send beside what the SageMaker SDK's Estimators send for the same training.

case.py        a training, as the sweep file says it and as an Estimator's arguments do
cases.py       the trainings: every way of starting processes
start_cases.py ... what else starts, as far as the SDK can say it
asked_cases.py ... and what else a sweep asks for
ours.py        our request for a case
estimators.py  the SDK's, by its own interpreter
compare.py     field by field, with the differences that are meant
__main__.py    the table: `make parity`
"""
