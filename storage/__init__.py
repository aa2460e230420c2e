"""Storage: objects by ordered keys and one revision, as in etcd, with watches and caches.

It must not know kinds or HTTP.
"""
