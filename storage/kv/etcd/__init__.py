"""etcd: the engine that implements the kv contract on an etcd cluster, with messages of aetcd and our own channels."""

from aio_apiserver.storage.etcd_config import EtcdConfig, Login, Tls
from aio_apiserver.storage.kv.etcd.engine import EtcdKV

__all__ = ["EtcdConfig", "EtcdKV", "Login", "Tls"]
