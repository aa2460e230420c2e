"""Storage: the admission plugins for volumes and their claims."""
