"""One relational database: what exists (the catalog) and what was run (the ledger).

database.py  which database does a URL mean, and is it opened yet?
tables.py    which tables and columns are there?
engine.py    how is the database opened, read and written, and what does an error say?
migrate.py   which version of the schema does it have, and how does it get this code's?
upsert.py    how are rows written that may be there already?
"""
