"""Messages: builds etcd's requests from the arguments of the kv contract, and records from etcd's answers.

Pure, and on the hot path of every read, write and watch: each function does one message in one pass. Transactions are
encoded here, since seven message objects of the protobuf library for each write take five times as long.
"""

from collections.abc import Iterable

import aio_apiserver.storage.kv.etcd.aetcd_rpc.kv_pb2 as mvcc
import aio_apiserver.storage.kv.etcd.aetcd_rpc.rpc_pb2 as rpc
from aio_apiserver.storage.kv.interface import Event, EventType, WriteResult
from aio_apiserver.storage.record import Record

_PUT = EventType.PUT
_DELETE = EventType.DELETE

# Tags of fields: the number of the field times eight, plus 2 for bytes and messages, 0 for numbers.
_COMPARE, _SUCCESS, _FAILURE = b"\x0a", b"\x12", b"\x1a"
_REQUEST_RANGE, _REQUEST_PUT, _REQUEST_DELETE = b"\x0a", b"\x12", b"\x1a"
_KEY, _PUT_VALUE, _PUT_LEASE = b"\x0a", b"\x12", b"\x18"
_SERIALIZABLE, _KEYS_ONLY = b"\x38\x01", b"\x40\x01"
_MOD_EQUALS, _COMPARED_KEY, _COMPARED_REVISION = b"\x10\x02", b"\x1a", b"\x30"
_ONE_BYTE = 0x80
"""The first number that takes two bytes."""


def get(key: bytes, revision: int) -> rpc.RangeRequest:
    """Read one key."""
    return rpc.RangeRequest(key=key, revision=revision)


def record_in(response: rpc.RangeResponse) -> Record | None:
    """The record that `get` found."""
    return record_of(response.kvs[0]) if response.kvs else None


def mod_revisions(keys: Iterable[bytes], *, serializable: bool = False) -> bytes:
    """A TxnRequest: read the revisions of keys, and the store's."""
    flags = _SERIALIZABLE + _KEYS_ONLY if serializable else _KEYS_ONLY
    return b"".join(_field(_SUCCESS, _field(_REQUEST_RANGE, _field(_KEY, key) + flags)) for key in keys)


def mod_revision_in(response: rpc.ResponseOp) -> int:
    """The revision of one key of `mod_revisions`; 0 when the key does not exist."""
    found = response.response_range.kvs
    return found[0].mod_revision if found else 0


def put_if(key: bytes, value: bytes, *, expected_mod_revision: int, lease: int) -> bytes:
    """A TxnRequest: put if the key's mod_revision is the expected one, else read the key."""
    put = _field(_KEY, key) + _field(_PUT_VALUE, value)
    if lease:
        put += _PUT_LEASE + _varint(lease)
    return _if_unchanged(key, expected_mod_revision, _field(_SUCCESS, _field(_REQUEST_PUT, put)))


def delete_if(key: bytes, *, expected_mod_revision: int) -> bytes:
    """A TxnRequest: delete if the key's mod_revision is the expected one, else read the key."""
    removal = _field(_SUCCESS, _field(_REQUEST_DELETE, _field(_KEY, key)))
    return _if_unchanged(key, expected_mod_revision, removal)


def write_result(response: rpc.TxnResponse) -> WriteResult:
    """The outcome of `put_if` and `delete_if`."""
    (done,), revision = response.responses, response.header.revision
    if not response.succeeded:
        return WriteResult(False, revision, record_in(done.response_range))
    if done.HasField("response_delete_range") and not done.response_delete_range.deleted:
        return WriteResult(False, revision)  # it expected that the key does not exist: etcd finds nothing wrong
    return WriteResult(True, revision)


def record_of(kv: mvcc.KeyValue) -> Record:
    """A key-value pair as a record."""
    return Record(kv.key, kv.value, kv.create_revision, kv.mod_revision, kv.version, kv.lease)


def event_of(event: mvcc.Event) -> Event:
    """An event; etcd's `type` is 0 for a put and 1 for a deletion."""
    kv = event.kv
    record = Record(kv.key, kv.value, kv.create_revision, kv.mod_revision, kv.version, kv.lease)
    previous = record_of(event.prev_kv) if event.HasField("prev_kv") else None
    return Event(_DELETE if event.type else _PUT, record, previous)


def _if_unchanged(key: bytes, expected_mod_revision: int, success: bytes) -> bytes:
    compare = _MOD_EQUALS + _field(_COMPARED_KEY, key) + _COMPARED_REVISION + _varint(expected_mod_revision)
    failure = _field(_REQUEST_RANGE, _field(_KEY, key))
    return b"%b%b%b" % (_field(_COMPARE, compare), success, _field(_FAILURE, failure))


def _field(tag: bytes, content: bytes) -> bytes:
    """A field of a protobuf message with a length."""
    size = len(content)
    return b"%b%c%b" % (tag, size, content) if size < _ONE_BYTE else tag + _varint(size) + content


def _varint(number: int) -> bytes:
    """A number in protobuf: seven bits in a byte, the lowest first."""
    encoded = bytearray()
    while number >= _ONE_BYTE:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)
