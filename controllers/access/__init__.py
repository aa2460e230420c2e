"""Access: the controllers of cluster roles and certificate signing requests, with their decisions."""
