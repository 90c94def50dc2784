"""What exists: campaigns and their replicas, prices, quotas."""
