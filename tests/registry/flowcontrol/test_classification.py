import pytest

from registry.access.authorizer import Attributes
from registry.access.users import ALL_AUTHENTICATED, ANONYMOUS, MASTERS, UserInfo
from registry.bootstrap import flow_control_objects
from registry.flowcontrol.classification import Classifier, Flow, flow_schema


def fresh() -> Classifier:
    """What a new server knows; the uid of everything is its name."""
    schemas = flow_control_objects.flow_schemas()
    for schema in schemas:
        schema["metadata"]["uid"] = schema["metadata"]["name"]
    levels = [level["metadata"]["name"] for level in flow_control_objects.priority_levels()]
    return Classifier(list(map(flow_schema, schemas)), {name: name for name in levels})


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
def test_the_schema_with_the_lowest_precedence_that_matches_counts(
    question: Attributes, schema: str, level: str
) -> None:
    assert fresh().flow_of(question) == Flow(schema, level)


def test_a_schema_whose_level_is_missing_does_not_count() -> None:
    schemas = [
        flow_schema({**one, "metadata": {**one["metadata"], "uid": "u"}}) for one in flow_control_objects.flow_schemas()
    ]

    flow = Classifier(schemas, {"catch-all": "c"}).flow_of(ask(ADMIN, "get", "pods"))

    assert flow == Flow("u", "c")


def test_without_objects_nothing_is_known() -> None:
    assert Classifier((), {}).flow_of(ask(ADMIN, "get", "pods")) is None
