"""Inputs that nobody meant: every reader answers in one line, soon, and without an effect. `make fuzz` tries many."""
