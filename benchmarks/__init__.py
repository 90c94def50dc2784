"""What the budgets of docs/architecture.md promise, measured beside the rivals: `make bench`."""
