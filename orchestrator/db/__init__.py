"""One relational database: what exists (the catalog) and what was run (the ledger).

database.py      which database does a URL mean, and is it opened yet?
tables.py        which tables and columns are there?
history_tables.py  in which of them lies what runs have taught?
schema.py        what do all tables share?
rows.py          how are rows read by plain SQL, before SQLAlchemy is loaded?
engine_rows.py   how are they read where SQLAlchemy is loaded anyway?
engine.py        how is the database opened, read and written, and what does an error say?
revisions.py     which versions of the schema are there?
migrate.py       which of them does a database have, and how does it get this code's?
upsert.py        how are rows written that may be there already?
foreign.py       how is somebody else's database read?
"""
