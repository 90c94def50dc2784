"""What AWS tells of its prices, quotas and spot markets: made up, plausible, and the same on every machine."""
