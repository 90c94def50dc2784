"""Commands that look at runs and act on them.

These are runs, status, watch, why, logs, results, artifacts, cost, cancel, limit, retry, replan, reproduce, diff and
sync.
"""
