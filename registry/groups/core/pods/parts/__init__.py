"""Parts: rules for parts of a pod that pods, their validation and their warnings share. Pure."""
