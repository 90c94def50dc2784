"""One run, from intent to invoice."""
