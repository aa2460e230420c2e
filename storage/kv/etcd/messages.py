"""Messages: builds etcd's requests from the arguments of the kv contract, and records from etcd's answers.

Pure, and on the hot path of every read, write and watch: each function does one message in one pass.
"""

from aetcd import rpc

from aio_apiserver.storage.kv.interface import Event, EventType, Record, WriteResult

_PUT = EventType.PUT
_DELETE = EventType.DELETE


def get(key: bytes, revision: int) -> rpc.RangeRequest:
    """Read one key."""
    return rpc.RangeRequest(key=key, revision=revision)


def record_in(response: rpc.RangeResponse) -> Record | None:
    """The record that `get` found."""
    return record_of(response.kvs[0]) if response.kvs else None


def put_if(key: bytes, value: bytes, *, expected_mod_revision: int, lease: int) -> rpc.TxnRequest:
    """Put if the key's mod_revision is the expected one, else read the key.

    A new record's create_revision and version are known. Those of a changed record come from a read in the same
    transaction, without the value.
    """
    success = [rpc.RequestOp(request_put=rpc.PutRequest(key=key, value=value, lease=lease))]
    if expected_mod_revision:
        success.append(rpc.RequestOp(request_range=rpc.RangeRequest(key=key, keys_only=True)))
    return _if_unchanged(key, expected_mod_revision, success)


def delete_if(key: bytes, *, expected_mod_revision: int) -> rpc.TxnRequest:
    """Delete if the key's mod_revision is the expected one, else read the key."""
    removal = rpc.DeleteRangeRequest(key=key, prev_kv=True)
    return _if_unchanged(key, expected_mod_revision, [rpc.RequestOp(request_delete_range=removal)])


def put_result(response: rpc.TxnResponse, key: bytes, value: bytes, lease: int) -> WriteResult:
    """The outcome of `put_if`."""
    if not response.succeeded:
        return _lost(response)
    revision = response.header.revision
    if len(response.responses) == 1:
        return WriteResult(True, revision, Record(key, value, revision, revision, 1, lease))
    (written,) = response.responses[1].response_range.kvs
    record = Record(key, value, written.create_revision, revision, written.version, lease)
    return WriteResult(True, revision, record)


def delete_result(response: rpc.TxnResponse) -> WriteResult:
    """The outcome of `delete_if`."""
    if not response.succeeded:
        return _lost(response)
    removed = response.responses[0].response_delete_range.prev_kvs
    if not removed:  # a deletion that expected the key not to exist: etcd finds nothing wrong with it
        return WriteResult(False, response.header.revision, None)
    return WriteResult(True, response.header.revision, record_of(removed[0]))


def record_of(kv: rpc.KeyValue) -> Record:
    """A key-value pair as a record."""
    return Record(kv.key, kv.value, kv.create_revision, kv.mod_revision, kv.version, kv.lease)


def event_of(event: rpc.Event) -> Event:
    """An event; etcd's `type` is 0 for a put and 1 for a deletion."""
    kv = event.kv
    record = Record(kv.key, kv.value, kv.create_revision, kv.mod_revision, kv.version, kv.lease)
    previous = record_of(event.prev_kv) if event.HasField("prev_kv") else None
    return Event(_DELETE if event.type else _PUT, record, previous)


def _if_unchanged(key: bytes, expected_mod_revision: int, success: list[rpc.RequestOp]) -> rpc.TxnRequest:
    compare = rpc.Compare(result=rpc.Compare.EQUAL, target=rpc.Compare.MOD, key=key, mod_revision=expected_mod_revision)
    failure = rpc.RequestOp(request_range=rpc.RangeRequest(key=key))
    return rpc.TxnRequest(compare=[compare], success=success, failure=[failure])


def _lost(response: rpc.TxnResponse) -> WriteResult:
    current = response.responses[0].response_range.kvs
    return WriteResult(False, response.header.revision, record_of(current[0]) if current else None)
