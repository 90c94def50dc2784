"""AWS's services, as the local cloud plays them."""
