"""apps: Deployments, StatefulSets and the other controllers of long-running pods."""
