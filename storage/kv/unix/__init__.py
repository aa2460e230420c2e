"""Unix: the kv contract over a Unix socket, for processes that share one embedded store.

    framing.py      messages on a connection: their lengths, batched writes, back-pressure
    messages.py     what the two ends say, as msgpack arrays
    refusals.py     errors of storage on the wire
    service.py      KVService: serves the engine of the process that owns the store
    revision_page.py  the newest revision, in memory that all processes share
    connection.py   OwnerConnection: calls the owner, and connects again after a loss
    engine.py       UnixKV: the contract in the other processes

The owner sends each connection all committed events. Watches, with their queues and replays, are those of ../feed.py
and ../watcher.py in the process that watches.
"""

from aio_apiserver.storage.kv.unix.engine import UnixKV
from aio_apiserver.storage.kv.unix.service import KVService

__all__ = ["KVService", "UnixKV"]
