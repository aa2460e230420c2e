"""etcd's transactions: the protobuf library reads them as the messages that it would have built."""

import pytest
from aetcd import rpc

from aio_apiserver.storage.kv.etcd import messages

_LARGEST = 2**63 - 1


def _if_unchanged(key: bytes, revision: int, success: list[rpc.RequestOp]) -> rpc.TxnRequest:
    compare = rpc.Compare(result=rpc.Compare.EQUAL, target=rpc.Compare.MOD, key=key, mod_revision=revision)
    failure = rpc.RequestOp(request_range=rpc.RangeRequest(key=key))
    return rpc.TxnRequest(compare=[compare], success=success, failure=[failure])


@pytest.mark.parametrize("size", [0, 1, 100, 127, 128, 129, 16_383, 16_384, 3_000_000])
@pytest.mark.parametrize(("revision", "lease"), [(0, 0), (0, 1), (1, 0), (300, 128), (_LARGEST, _LARGEST)])
def test_a_put_is_read_as_it_was_meant(size: int, revision: int, lease: int) -> None:
    key, value = b"/registry/pods/default/one", b"v" * size
    operations = [rpc.RequestOp(request_put=rpc.PutRequest(key=key, value=value, lease=lease))]

    encoded = messages.put_if(key, value, expected_mod_revision=revision, lease=lease)

    assert rpc.TxnRequest.FromString(encoded) == _if_unchanged(key, revision, operations)


@pytest.mark.parametrize("size", [1, 122, 123, 124, 125, 126, 127, 128, 400])
@pytest.mark.parametrize("revision", [0, 127, 128, _LARGEST])
def test_a_deletion_is_read_as_it_was_meant(size: int, revision: int) -> None:
    key = b"k" * size
    removal = rpc.DeleteRangeRequest(key=key)

    encoded = messages.delete_if(key, expected_mod_revision=revision)

    assert rpc.TxnRequest.FromString(encoded) == _if_unchanged(
        key, revision, [rpc.RequestOp(request_delete_range=removal)]
    )
