"""What exists: campaigns and their replicas, prices, quotas. Files become rows, and rows become a Market.

catalog.py           what may the rest of the program ask of the catalog?
platforms.py         what do the installed platforms say of lanes?
market.py            what may the planner know, and in which tables?

From files to rows (`sweep catalog load`):

load.py              how is everything loaded, or nothing? what is refused because of other rows?
file_kinds.py        which kinds of file are there, and which columns does each have?
file_formats.py      how are CSV and Parquet files read?
file_rows.py         how does a file become rows of its table, and what place does an error name?
file_cells.py        what may one cell hold?
row_consistency.py   which rows are wrong although each of their cells is right?
file_lanes.py        which rows are about lanes that no platform has?
incoming_rows.py     where do rows wait until they are merged into their table?

From rows to a Market (`sweep plan`):

survey.py            what can the datasets of one sweep be trained on, and for how much?
select_datasets.py   which datasets does a sweep train on?
select_types.py      which instance types does `where.resources` stand for?
for_sale.py          which lanes may a sweep buy?
quotas.py            what do these lanes count under, and how much of it is there?
commitments.py       which training plans and savings plans may a sweep use?
infeasible.py        why can a dataset be trained nowhere?

What people read:

check_catalog.py     what is missing from the loaded catalog, or looks wrong? (`sweep catalog check`)
wording.py           how are many names said in few words?

What can be wrong with a row of prices.csv is found in this order: one cell alone in `file_cells.py`, its cells together
in `row_consistency.py`, and the row beside other rows in `load.py`. What is only strange is found by
`check_catalog.py`, once it is loaded.

A new kind of file is a table in `db/tables.py`, its migration in `sql/migrations`, an entry in `file_kinds.py`, and its
name in `cli/commands/catalog.py`. Loading and showing it then work by themselves.
"""
