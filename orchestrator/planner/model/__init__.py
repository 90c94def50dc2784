"""The planning problem as arrays: what there is to choose from, and what may not be exceeded."""
