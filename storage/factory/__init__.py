"""Factory: StorageFactory, which opens the kv engines and makes the Storage of each resource."""
