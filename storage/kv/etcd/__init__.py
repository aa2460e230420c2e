"""The etcd engine: the kv contract on aetcd's stubs, over our own channels."""

from aio_apiserver.storage.kv.etcd.config import EtcdConfig, Login, Tls
from aio_apiserver.storage.kv.etcd.engine import EtcdKV

__all__ = ["EtcdConfig", "EtcdKV", "Login", "Tls"]
