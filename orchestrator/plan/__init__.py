"""The plan: what it says, its file, how many slots it takes, and its picture."""
