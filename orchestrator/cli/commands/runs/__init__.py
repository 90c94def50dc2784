"""Commands that look at runs and act on them: runs, status, watch, logs, results, cost, cancel, retry, sync."""
