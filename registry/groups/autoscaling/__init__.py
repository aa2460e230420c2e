"""autoscaling: HorizontalPodAutoscalers."""
