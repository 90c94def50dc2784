"""Commands that change how a run goes on: cancel, limit, retry and replan."""
