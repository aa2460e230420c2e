"""Volumes: PersistentVolumes and PersistentVolumeClaims, with what they share."""
