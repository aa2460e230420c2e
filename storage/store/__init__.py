"""Store: KVStore, the objects of one resource on a kv engine: reads, lists, writes, watches, compaction, leases.

It must not know kinds, HTTP, or a kv engine by name.
"""
