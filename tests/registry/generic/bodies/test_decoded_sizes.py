"""The memory of decoded bodies is estimated from their bytes."""

import orjson
import pytest

from aio_apiserver.registry.generic.bodies.decoded_sizes import EXPANDED, decoded_bytes
from aio_apiserver.registry.machinery.schema import builtin
from aio_apiserver.registry.machinery.serializers import protobuf, yaml

MANY = 100_000
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web", "labels": {"app": "web"}, "annotations": {"note": "a text of some length, * and &c"}},
    "spec": {
        "containers": [
            {
                "name": f"container-{number}",
                "image": "registry.example.com/team/image:v1.2.3",
                "command": ["sh", "-c", "sleep 1 && exec server --address=*:80"],
                "env": [{"name": "KEY", "value": "value"}],
                "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}},
            }
            for number in range(10)
        ]
    },
}


@pytest.mark.parametrize(
    ("text", "least"),
    [
        pytest.param(b'{"spec":{"containers":[%b]}}' % b",".join([b"{}"] * MANY), 500 * MANY, id="maps"),
        pytest.param(b'{"a":[%b]}' % b",".join([b'"x"'] * MANY), 300 * MANY, id="texts"),
        pytest.param(b'{"a":[%b]}' % b",".join([b"0.5"] * MANY), 60 * MANY, id="numbers"),
        pytest.param(b"data:\n" + b" k: v\n" * MANY, 800 * MANY, id="YAML"),
        pytest.param(b"a: &a [1, 2]\nb: [*a, *a, *a]\n", EXPANDED, id="YAML with aliases"),
        pytest.param(b"k8s\x00" + b"\x12\x00" * MANY, 500 * MANY, id="protobuf"),
    ],
)
def test_small_values_that_take_much_memory_are_noticed(text: bytes, least: int) -> None:
    assert decoded_bytes(text) >= least


def test_usual_objects_take_little() -> None:
    bodies = [orjson.dumps(POD), orjson.dumps(POD, option=orjson.OPT_INDENT_2), yaml.dump(POD)]
    bodies.append(protobuf.dump(POD, builtin()))

    assert max(map(decoded_bytes, bodies)) < 200_000


def test_one_long_text_takes_little() -> None:
    assert decoded_bytes(b'{"data":{"a":"%b"}}' % (b"x" * 1_000_000)) < 10_000
