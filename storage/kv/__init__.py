"""KV: the storage engines below the registry's storage. All follow etcd's contract on bytes: etcd, SQLite, memory."""
