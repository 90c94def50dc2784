"""What travels into a training: it needs Python 3.8 and nothing else, and knows no other room."""
