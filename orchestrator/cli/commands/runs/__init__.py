"""Commands that look at runs: runs, status, watch, why, logs, results, artifacts, cost, reproduce, diff and sync."""
