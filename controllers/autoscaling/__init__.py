"""Autoscaling: the controller of horizontal pod autoscalers, with its decisions."""
