"""Commands for what is trained again and again: models, notify."""
