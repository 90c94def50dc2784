"""One relational database: what exists (the catalog) and what was run (the ledger)."""
