"""What is to go wrong, on command."""
