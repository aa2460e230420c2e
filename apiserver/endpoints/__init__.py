"""What is served beside the resources: health, version."""
