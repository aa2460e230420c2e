"""The storage form of kube-apiserver: values that it wrote to etcd are read, and written back as the same bytes."""

import base64

import pytest

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.registry.generic.resource import resource_of
from aio_apiserver.registry.groups.core.volumes.persistentvolumeclaims import PERSISTENTVOLUMECLAIMS
from aio_apiserver.registry.machinery.schema import builtin
from aio_apiserver.registry.machinery.serializers.protobuf import storage_form
from aio_apiserver.storage import codec
from aio_apiserver.storage.codec import JSON
from aio_apiserver.storage.kv.memory import MemoryKV
from aio_apiserver.storage.store.lease_manager import LeaseManager
from aio_apiserver.storage.store.store import KVStore
from aio_apiserver.storage.transformers.transformer import IDENTITY

MESSAGES = storage_form.codec_of(builtin())

# What kube-apiserver v1.36.4 wrote to etcd.
NAMESPACE = bytes.fromhex(
    "6b3873000a0f0a02763112094e616d657370616365128e020af3010a0b6b7562652d7075626c696312001a0022002a24636162363139"
    "63662d646464652d346166642d613566632d31356563306366633261386532003800420808a6dffad70610005a2a0a1b6b7562657"
    "26e657465732e696f2f6d657461646174612e6e616d65120b6b7562652d7075626c69638a017d0a0e6b7562652d617069736572766572"
    "12065570646174651a027631220808a6dffad706100032084669656c647356313a490a477b22663a6d65746164617461223a7b22663a6c"
    "6162656c73223a7b222e223a7b7d2c22663a6b756265726e657465732e696f2f6d657461646174612e6e616d65223a7b7d7d7d7d420012"
    "0c0a0a6b756265726e657465731a080a064163746976651a002200"
)
CLAIM = bytes.fromhex(
    "6b3873000a1b0a027631121550657273697374656e74566f6c756d65436c61696d12d7020a97020a017612001a0b72722d6b696e64732d37"
    "3422002a2438643538333234342d393136302d343764302d613765652d31333939656161646538326132003800420808b6e1fad7061000"
    "721c6b756265726e657465732e696f2f7076632d70726f74656374696f6e8a01ad010a06507974686f6e12065570646174651a02763122"
    "0808b6e1fad706100032084669656c647356313a80010a7e7b22663a73706563223a7b22663a6163636573734d6f646573223a7b7d2c22"
    "663a7265736f7572636573223a7b22663a7265717565737473223a7b222e223a7b7d2c22663a73746f72616765223a7b7d7d7d2c22663a"
    "73746f72616765436c6173734e616d65223a7b7d2c22663a766f6c756d654d6f6465223a7b7d7d7d420012370a0d526561645772697465"
    "4f6e6365121212100a0773746f7261676512050a033147691a002a04676f6c64320a46696c6573797374656d1a020a001a002200"
)
NODE_PORTS = bytes.fromhex(
    "6b3873000a150a027631120f52616e6765416c6c6f636174696f6e12210a100a0012001a0022002a00320038004200120b33303030302d33"
    "323736371a001a002200"
)


@pytest.mark.parametrize("value", [NAMESPACE, CLAIM, NODE_PORTS], ids=["Namespace", "Claim", "node ports"])
def test_values_of_kube_apiserver_are_written_back_as_the_same_bytes(value: bytes) -> None:
    assert MESSAGES.encode(codec.decode(value, MESSAGES)) == value


def test_an_object_is_read_in_the_order_of_kube_apiservers_json() -> None:
    found = codec.decode(NAMESPACE, MESSAGES)

    assert list(found) == ["kind", "apiVersion", "metadata", "spec", "status"]
    assert list(found["metadata"])[:4] == ["name", "uid", "resourceVersion", "creationTimestamp"]
    assert found["metadata"]["labels"] == {"kubernetes.io/metadata.name": "kube-public"}
    assert found["spec"] == {"finalizers": ["kubernetes"]}


def test_allocated_node_ports_are_the_same_bits() -> None:
    obj = {**codec.decode(NODE_PORTS, MESSAGES), "data": base64.b64encode(b"\x80\x01").decode()}

    assert codec.decode(MESSAGES.encode(obj), MESSAGES)["data"] == obj["data"]
    assert MESSAGES.encode(obj).endswith(b"\x1a\x02\x80\x01\x1a\x00\x22\x00")


@pytest.mark.parametrize(
    ("type_meta", "is_json", "written"),
    [
        ({"kind": "Pod", "apiVersion": "v1"}, False, MESSAGES),
        ({"kind": "APIService", "apiVersion": "apiregistration.k8s.io/v1"}, True, JSON),
        ({"kind": "CronTab", "apiVersion": "stable.example.com/v1"}, False, JSON),
    ],
)
def test_what_kube_apiserver_stores_as_json_is_json(
    type_meta: dict[str, str], is_json: bool, written: codec.Codec
) -> None:
    assert codec.chosen(MESSAGES, type_meta, is_json=is_json) is written


async def test_a_store_reads_a_value_of_kube_apiserver_with_the_defaults_of_the_kind() -> None:
    memory_kv, clock = MemoryKV(), ManualClock()
    await memory_kv.put(b"/registry/persistentvolumeclaims/default/v", CLAIM, expected_mod_revision=0)

    for own in (MESSAGES, codec.MSGPACK):
        store = KVStore(
            memory_kv,
            resource_of(PERSISTENTVOLUMECLAIMS),
            prefix="/registry/persistentvolumeclaims/",
            codec=own,
            transformer=IDENTITY,
            leases=LeaseManager(memory_kv, clock=clock),
            messages=MESSAGES,
        )
        found = await store.get("default/v")
        await store.close()

        assert found.decode()["status"] == {"phase": "Pending"}
        assert found.is_stale is (own is codec.MSGPACK)
    await memory_kv.close()
