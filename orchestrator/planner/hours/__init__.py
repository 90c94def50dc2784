"""How long tasks take, and where that is known from."""
