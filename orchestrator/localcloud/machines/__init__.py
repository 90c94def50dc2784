"""Trainings under AWS's own toolkit, each host a container, as far as one machine has room for that."""
