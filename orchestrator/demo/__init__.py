"""Seeded driving campaigns, and the main job: one sweep over them through a whole AWS on this machine."""
