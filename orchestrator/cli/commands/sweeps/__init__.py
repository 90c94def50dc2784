"""Commands that make a sweep, and a run of it: init, schema, plan, submit, scale, demo."""
