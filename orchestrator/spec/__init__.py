"""What the user asks: sweep.yaml, read with care."""
