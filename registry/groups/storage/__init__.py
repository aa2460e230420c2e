"""storage: the group storage.k8s.io: StorageClasses, VolumeAttachments and the kinds for CSI drivers."""
