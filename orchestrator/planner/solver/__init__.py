"""The cheapest choices within all limits, with a proven bound."""
