"""What a launcher costs."""

LAUNCHER_USD_PER_HOUR = 0.0124
"""A quarter of a vCPU and half a GB on Fargate, for as long as the training runs."""
LAUNCHERS_A_VCPU = 4
"""Launchers that one vCPU of Batch's environment holds: each has a quarter."""
