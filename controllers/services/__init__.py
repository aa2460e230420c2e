"""Services: the controllers of endpoints and of ranges of cluster IPs, with their decisions."""
