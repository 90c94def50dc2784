"""Commands for what is trained by itself, at night."""
