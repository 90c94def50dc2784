"""Whole tasks into the slots of lanes."""
