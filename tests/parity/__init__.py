"""What we send beside what the SageMaker SDK's Estimators send for the same training.

cases.py       trainings, as the sweep file says them and as an Estimator's arguments do
ours.py        our request for a case
estimators.py  the SDK's, by its own interpreter
compare.py     field by field, with the differences that are meant
__main__.py    the table: `make parity`
"""
