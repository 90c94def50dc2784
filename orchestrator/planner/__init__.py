"""Decide. Pure: a Sweep and a Market in, a Plan out; no files, no network, no clock."""
