"""resource: ResourceClaims, ResourceSlices and DeviceClasses, for dynamic resource allocation."""
