"""Our settings: where the database, the buckets and the roles are.

settings.py   which settings are there, and which of several that are said wins?
values.py     which values may a setting have?
infra.py      what may the table [infra] hold?
max_age.py    how old may facts be before a plan warns of them?
"""
