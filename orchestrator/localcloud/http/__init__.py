"""Requests to the local cloud, and who answers them."""
