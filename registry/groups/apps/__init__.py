"""apps: deployments and the other controllers of long-running pods."""
