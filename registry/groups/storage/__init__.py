"""storage.k8s.io: storage classes, CSI and volume attachments."""
