"""Builtin objects: kube-apiserver's suggested and mandatory FlowSchemas and priority levels, as tables."""

from collections.abc import Sequence

from aio_apiserver.base.unstructured import Object

MANDATORY = frozenset({"exempt", "catch-all"})
"""The mandatory objects. The server restores their specs after any change."""

_ALL_USERS = ("Group system:unauthenticated", "Group system:authenticated")
_ALL = ("*", "*", "*", True)
_LEASES_OF_LEADERS = ("get create update", "coordination.k8s.io", "leases", False)
_LEASES_OF_NODES = ("*", "coordination.k8s.io", "leases", False)
_NODES = ("*", "", "nodes nodes/status", True)
_ALL_PATHS = ("*", "*")
_PROBES = ("get", "/healthz /readyz /livez")
_CONTROLLERS = ("User system:kube-controller-manager", "User system:kube-scheduler")
_SYSTEM_ACCOUNTS = "ServiceAccount kube-system/*"

# name, precedence, level, distinguisher, subjects, (verbs, groups, resources, cluster scope)s, (verbs, paths)
_SCHEMAS = (
    ("exempt", 1, "exempt", "", ("Group system:masters",), (_ALL,), _ALL_PATHS),
    ("probes", 2, "exempt", "", _ALL_USERS, (), _PROBES),
    (
        "system-leader-election",
        100,
        "leader-election",
        "ByUser",
        (*_CONTROLLERS, _SYSTEM_ACCOUNTS),
        (_LEASES_OF_LEADERS,),
        None,
    ),
    ("system-node-high", 400, "node-high", "ByUser", ("Group system:nodes",), (_NODES, _LEASES_OF_NODES), None),
    ("system-nodes", 500, "system", "ByUser", ("Group system:nodes",), (_ALL,), _ALL_PATHS),
    ("kube-controller-manager", 800, "workload-high", "ByNamespace", _CONTROLLERS[:1], (_ALL,), _ALL_PATHS),
    ("kube-scheduler", 800, "workload-high", "ByNamespace", _CONTROLLERS[1:], (_ALL,), _ALL_PATHS),
    ("kube-system-service-accounts", 900, "workload-high", "ByNamespace", (_SYSTEM_ACCOUNTS,), (_ALL,), _ALL_PATHS),
    ("service-accounts", 9000, "workload-low", "ByUser", ("Group system:serviceaccounts",), (_ALL,), _ALL_PATHS),
    ("global-default", 9900, "global-default", "ByUser", _ALL_USERS, (_ALL,), _ALL_PATHS),
    ("catch-all", 10000, "catch-all", "ByUser", _ALL_USERS, (_ALL,), _ALL_PATHS),
)

# name, shares, lendable percent, (queues, hand size, queue length); a level without queues rejects excess requests
_LEVELS = (
    ("catch-all", 5, 0, None),
    ("global-default", 20, 50, (128, 6, 50)),
    ("leader-election", 10, 0, (16, 4, 50)),
    ("node-high", 40, 25, (64, 6, 50)),
    ("system", 30, 33, (64, 6, 50)),
    ("workload-high", 40, 50, (128, 6, 50)),
    ("workload-low", 100, 90, (128, 6, 50)),
)


def flow_schemas() -> list[Object]:
    """New objects for all builtin FlowSchemas."""
    return [_schema(*row) for row in _SCHEMAS]


def priority_levels() -> list[Object]:
    """New objects for all builtin priority levels."""
    exempt = {"type": "Exempt", "exempt": {"nominalConcurrencyShares": 0, "lendablePercent": 0}}
    return [_named("exempt", exempt), *(_named(name, _limited(*rest)) for name, *rest in _LEVELS)]


def _named(name: str, spec: Object) -> Object:
    return {"metadata": {"name": name}, "spec": spec, "status": {}}


def _schema(
    name: str,
    precedence: int,
    level: str,
    distinguisher: str,
    subjects: Sequence[str],
    resources: Sequence[tuple[str, str, str, bool]],
    paths: tuple[str, str] | None,
) -> Object:
    rule: Object = {"subjects": list(map(_subject, subjects))}
    if resources:
        rule["resourceRules"] = [_resource_rule(*each) for each in resources]
    if paths is not None:
        rule["nonResourceRules"] = [{"verbs": paths[0].split(), "nonResourceURLs": paths[1].split()}]
    spec: Object = {"priorityLevelConfiguration": {"name": level}, "matchingPrecedence": precedence}
    if distinguisher:
        spec["distinguisherMethod"] = {"type": distinguisher}
    return _named(name, {**spec, "rules": [rule]})


def _subject(text: str) -> Object:
    kind, _, name = text.partition(" ")
    if kind == "ServiceAccount":
        namespace, _, name = name.partition("/")
        return {"kind": kind, "serviceAccount": {"namespace": namespace, "name": name}}
    return {"kind": kind, kind.lower(): {"name": name}}


def _resource_rule(verbs: str, group: str, resources: str, is_cluster_wide: bool) -> Object:
    rule: Object = {"verbs": verbs.split(), "apiGroups": [group], "resources": resources.split()}
    if is_cluster_wide:
        rule["clusterScope"] = True
    return {**rule, "namespaces": ["*"]}


def _limited(shares: int, lendable: int, queuing: tuple[int, int, int] | None) -> Object:
    response: Object = {"type": "Reject"}
    if queuing is not None:
        queues, hand_size, length = queuing
        response = {
            "type": "Queue",
            "queuing": {"queues": queues, "handSize": hand_size, "queueLengthLimit": length},
        }
    limited = {"nominalConcurrencyShares": shares, "limitResponse": response, "lendablePercent": lendable}
    return {"type": "Limited", "limited": limited}
