"""Pictures of numbers: what is drawn, apart from how. No other room is needed for it."""
