"""autoscaling: horizontal pod autoscalers."""
