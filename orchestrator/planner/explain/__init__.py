"""Why a plan is as it is, and why there is none."""
