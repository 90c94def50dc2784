"""The commands of `sweep`, a function each."""
