"""The kv engines: etcd's contract in bytes, on etcd, on SQLite and in memory."""
