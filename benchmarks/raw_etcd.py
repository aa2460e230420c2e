"""Raw etcd: aetcd's gRPC stubs on a channel of their own, one message for each request.

It is the upper limit for the etcd engine, and the reference for the SQLite engine.
"""

import grpc.aio
from aetcd import rpc


class RawEtcd:
    """One connection to one member."""

    def __init__(self, target: str) -> None:
        self._channel = grpc.aio.insecure_channel(target)
        kv = rpc.KVStub(self._channel)
        self._txn, self._range = kv.Txn, kv.Range

    async def create(self, key: bytes, value: bytes) -> None:
        """Put a key that does not exist."""
        absent = rpc.Compare(result=rpc.Compare.EQUAL, target=rpc.Compare.MOD, key=key, mod_revision=0)
        put = rpc.RequestOp(request_put=rpc.PutRequest(key=key, value=value))
        response = await self._txn(rpc.TxnRequest(compare=[absent], success=[put]))
        assert response.succeeded

    async def get(self, key: bytes) -> bytes:
        """The value of an existing key."""
        response = await self._range(rpc.RangeRequest(key=key))
        (found,) = response.kvs
        value: bytes = found.value
        return value

    async def close(self) -> None:
        await self._channel.close()
