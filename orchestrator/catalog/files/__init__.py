"""Files become rows (`sweep catalog load`), and so does what feeds read.

observe.py       how are facts taken in that a feed read? (`sweep catalog refresh`)
load.py          how is everything loaded, or nothing?
kinds.py         which kinds of file are there, and which columns does each have?
formats.py       how are CSV and Parquet files read?
rows.py          how does a file become rows of its table, and what place does an error name?
cells.py         what may one cell hold?
consistency.py   which rows are wrong although each of their cells is right?
to_come.py       which rows are dated later than now, and what becomes of them?
beside.py        which rows are wrong because of other rows?
lanes.py         which rows are about lanes that no platform has?
incoming.py      where do rows wait until they are merged into their table?

What can be wrong with a row of prices.csv is found in this order: one cell alone in `cells.py`, its cells together
in `consistency.py`, and the row beside other rows in `beside.py`. What is only strange is found by
`check_catalog.py`, once it is loaded.

A new kind of file is a table in `db/tables.py`, its migration in `sql/migrations`, an entry in `kinds.py`, and its
name in `cli/commands/account/catalog.py`. Loading and showing it then work by themselves.
"""
