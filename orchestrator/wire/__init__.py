"""What crosses to a Batch child and back. Standard library only."""
