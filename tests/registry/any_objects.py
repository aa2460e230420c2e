"""Objects that a schema allows, however odd: made by chance, with words that rules look for."""

from random import Random
from typing import Any

from aio_apiserver.registry.machinery.schema.model import Kind, Node

_WORDS = """
    a x-1 0 1 -1 1Gi 100m 1.5 10.0.0.1 ::1 010.0.0.1 fd00::/64 10.0.0.0/8 ::ffff:1.2.3.4 /a a/../b .. a.b example.com/a
    Bad_Name QQ== e30= {} [1] null true Always Never File TCP UDP In NotIn Exists DoesNotExist Gt NoExecute NoSchedule
    IPv4 IPv6 FQDN Pod Container PersistentVolumeClaim ReadWriteOnce ReadWriteOncePod Retain Recycle Delete Immediate
    kubernetes.io/tls kubernetes.io/dockercfg Active Terminating Bound BestEffort PriorityClass ClusterIP NodePort
    LoadBalancer ExternalName Exact Prefix Resource Utilization Limited Exempt Namespaced Cluster storage cpu memory
    pods requests.storage hugepages-2Mi ExactCount All 2024-01-02T03:04:05Z system:masters *
""".split()
_LEAVES: dict[Kind, tuple[Any, ...]] = {
    Kind.STRING: ("", *_WORDS),
    Kind.INTEGER: (0, 1, -1, 2, 80, 2**31 - 1, -(2**31)),
    Kind.NUMBER: (0, 1.5, -1),
    Kind.BOOLEAN: (True, False),
    Kind.QUANTITY: ("1", "0", "-1", "1.5", "1Gi", "100m", "1e3", "-0.5"),
    Kind.TIME: ("2024-01-02T03:04:05Z", None),
    Kind.MICRO_TIME: ("2024-01-02T03:04:05.123456Z", None),
    Kind.BYTES: ("", "QQ==", "e30=", None),
    Kind.INT_OR_STRING: (0, 1, -1, "", "http", "50%"),
}
_ANY: tuple[Any, ...] = ({}, {"a": 1}, [], "x", 1, None)
_SOME_FIELDS = (0, 1, 2, 3, 5, 8)
_ALL_FIELDS_FROM = 8


def make(node: Node, chance: Random, *, depth: int = 9) -> Any:
    """A value of a node. Near its root an object mostly has all its fields."""
    if node.structure is not None:
        return _structure(node, chance, depth)
    if node.kind is Kind.ONE_OF:
        return make(chance.choice(node.alternatives), chance, depth=depth - 1)
    if node.items is None:
        return chance.choice(node.enum or _LEAVES.get(node.kind, _ANY))
    number = chance.choice((0, 1, 1, 2)) if depth > 0 else 0
    made = [make(node.items, chance, depth=depth - 1) for _ in range(number)]
    return made if node.kind is Kind.LIST else {chance.choice(_WORDS): one for one in made}


def _structure(node: Node, chance: Random, depth: int) -> dict[str, Any]:
    assert node.structure is not None
    fields = list(node.structure.fields.values())
    has_all = depth >= _ALL_FIELDS_FROM and chance.random() < 0.8
    chosen = fields if has_all else chance.sample(fields, min(len(fields), chance.choice(_SOME_FIELDS)))
    return {one.name: make(one.node, chance, depth=depth - 1) for one in chosen} if depth > 0 else {}
