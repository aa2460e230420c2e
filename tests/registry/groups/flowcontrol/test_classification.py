import pytest

from aio_apiserver.registry.generic.access.authorizer import Attributes
from aio_apiserver.registry.generic.access.users import ALL_AUTHENTICATED, ANONYMOUS, MASTERS, UserInfo
from aio_apiserver.registry.groups.flowcontrol import builtin_objects
from aio_apiserver.registry.groups.flowcontrol.classification import Classifier, flow_schema


def fresh() -> Classifier:
    """The classifier of a server without stored objects."""
    levels = [level["metadata"]["name"] for level in builtin_objects.priority_levels()]
    return Classifier(map(flow_schema, builtin_objects.flow_schemas()), levels)


def user(name: str, *groups: str) -> UserInfo:
    return UserInfo(name=name, groups=(*groups, ALL_AUTHENTICATED))


ADMIN = user("admin", MASTERS)
NODE = user("system:node:n1", "system:nodes")
SCHEDULER = user("system:kube-scheduler")
ACCOUNT = user("system:serviceaccount:default:builder", "system:serviceaccounts", "system:serviceaccounts:default")
SYSTEM_ACCOUNT = user("system:serviceaccount:kube-system:gc", "system:serviceaccounts")


def ask(who: UserInfo, verb: str, resource: str, *, group: str = "", namespace: str = "", sub: str = "") -> Attributes:
    return Attributes(who, verb, group, "v1", resource, sub, namespace)


@pytest.mark.parametrize(
    ("question", "schema", "level"),
    [
        (ask(ADMIN, "get", "pods"), "exempt", "exempt"),
        (ask(user("jane"), "get", "pods", namespace="default"), "global-default", "global-default"),
        (ask(NODE, "update", "nodes", sub="status"), "system-node-high", "node-high"),
        (ask(NODE, "get", "pods", namespace="default"), "system-nodes", "system"),
        (
            ask(NODE, "update", "leases", group="coordination.k8s.io", namespace="kube-node-lease"),
            "system-node-high",
            "node-high",
        ),
        (
            ask(SCHEDULER, "update", "leases", group="coordination.k8s.io", namespace="kube-system"),
            "system-leader-election",
            "leader-election",
        ),
        (ask(SCHEDULER, "list", "leases", group="coordination.k8s.io"), "kube-scheduler", "workload-high"),
        (ask(ACCOUNT, "create", "pods", namespace="default"), "service-accounts", "workload-low"),
        (ask(SYSTEM_ACCOUNT, "create", "pods", namespace="x"), "kube-system-service-accounts", "workload-high"),
        (Attributes(ANONYMOUS, "get", path="/readyz", is_resource=False), "probes", "exempt"),
        (Attributes(ANONYMOUS, "get", path="/readyz/ping", is_resource=False), "probes", "exempt"),
        (Attributes(ANONYMOUS, "get", path="/readyzzz", is_resource=False), "global-default", "global-default"),
    ],
)
def test_the_matching_schema_with_the_lowest_precedence_wins(question: Attributes, schema: str, level: str) -> None:
    found = fresh().schema_of(question)

    assert (found.name, found.level) == (schema, level)


def test_a_flow_schema_whose_level_is_missing_is_ignored() -> None:
    schemas = map(flow_schema, builtin_objects.flow_schemas())

    found = Classifier(schemas, {"catch-all"}).schema_of(ask(user("jane"), "get", "pods", namespace="default"))

    assert found.name == "catch-all"


@pytest.mark.parametrize(("who", "schema"), [(ADMIN, "exempt"), (ANONYMOUS, "catch-all")])
def test_the_mandatory_schemas_exist_without_objects(who: UserInfo, schema: str) -> None:
    found = Classifier((), ()).schema_of(ask(who, "get", "pods"))

    assert (found.name, found.uid) == (schema, "")
