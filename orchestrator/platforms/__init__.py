"""How one training runs somewhere: one protocol, a package per platform."""
