"""What each cohort may choose from, and what it costs there."""
