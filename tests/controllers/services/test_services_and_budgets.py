from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.access import cluster_roles
from aio_apiserver.controllers.namespaces.namespace_conditions import Remains
from aio_apiserver.controllers.services import endpoint_slices as endpoints
from aio_apiserver.controllers.workloads import disruption_budgets as disruptions
from tests.controllers.making import BEFORE, CLOCK, NOW, obj, pod


def _service(**spec: object) -> Object:
    ports = [{"name": "http", "port": 80, "targetPort": "web", "protocol": "TCP"}]
    made = obj("web", labels={"team": "a"})
    return {**made, "spec": {"selector": {"app": "web"}, "ports": ports, "ipFamilies": ["IPv4"], **spec}}


def _backend(number: int, *, ready: bool = True, port: int = 8080, **metadata: Any) -> Object:
    made = pod(f"web-{number}", node="a", ready=ready, labels={"app": "web"}, **metadata)
    made["spec"]["containers"][0]["ports"] = [{"name": "web", "containerPort": port}]
    made["status"]["podIPs"] = [{"ip": f"10.0.0.{number}"}]
    return made


def test_a_slice_says_where_the_pods_are() -> None:
    (one,) = endpoints.slices(_service(), [_backend(1), _backend(2, ready=False)], {}, [])

    assert [(end["addresses"], end["conditions"]["ready"]) for end in one["endpoints"]] == [
        (["10.0.0.1"], True),
        (["10.0.0.2"], False),
    ]
    assert one["ports"] == [{"name": "http", "protocol": "TCP", "port": 8080}]
    assert one["metadata"]["labels"][endpoints.SERVICE_LABEL] == "web"


def test_pods_with_other_ports_are_in_another_slice() -> None:
    made = endpoints.slices(_service(), [_backend(1), _backend(2, port=9090)], {}, [])

    assert [one["ports"][0]["port"] for one in made] == [8080, 9090]


def test_a_slice_has_a_hundred_endpoints_at_most() -> None:
    made = endpoints.slices(_service(), [_backend(number) for number in range(150)], {}, [])

    assert [len(one["endpoints"]) for one in made] == [100, 50]


def test_slices_keep_their_names() -> None:
    (present,) = endpoints.slices(_service(), [_backend(1)], {}, [])
    present["metadata"]["name"] = "web-x"

    (changed,) = endpoints.slices(_service(), [_backend(1), _backend(2)], {}, [present])

    assert changed["metadata"]["name"] == "web-x"


def test_a_pod_that_is_going_serves_no_new_clients() -> None:
    going = _backend(1, deletionTimestamp=NOW)

    (one,) = endpoints.slices(_service(), [going], {}, [])

    assert one["endpoints"][0]["conditions"] == {"ready": False, "serving": True, "terminating": True}
    assert endpoints.endpoints(_service(), [going])["subsets"] == []


def test_endpoints_tell_who_is_ready() -> None:
    (subset,) = endpoints.endpoints(_service(), [_backend(1), _backend(2, ready=False)])["subsets"]

    assert [one["ip"] for one in subset["addresses"]] == ["10.0.0.1"]
    assert [one["ip"] for one in subset["notReadyAddresses"]] == ["10.0.0.2"]


def _budget(**spec: object) -> Object:
    return {**obj("b", generation=1), "spec": spec}


def test_a_budget_allows_what_is_healthy_beyond_the_minimum() -> None:
    members = [_backend(number) for number in range(3)]

    status = disruptions.status(_budget(minAvailable="50%"), members, 4, now=CLOCK, shown=NOW)

    assert (status["currentHealthy"], status["desiredHealthy"], status["disruptionsAllowed"]) == (3, 2, 1)
    assert status["conditions"][0]["reason"] == "SufficientPods"


def test_an_evicted_pod_counts_as_gone() -> None:
    budget = _budget(maxUnavailable=1)
    budget["status"] = {"disruptedPods": {"web-0": BEFORE, "other": BEFORE}}

    status = disruptions.status(budget, [_backend(0), _backend(1)], 2, now=CLOCK, shown=NOW)

    assert status["disruptedPods"] == {"web-0": BEFORE}
    assert status["disruptionsAllowed"] == 0


def test_an_aggregated_role_has_the_rules_of_those_that_it_selects() -> None:
    rule = {"verbs": ["get"], "resources": ["pods"]}
    role = {**obj("all", namespace=""), "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"to": "all"}}]}}
    some = {**obj("some", namespace="", labels={"to": "all"}), "rules": [rule]}
    same = {**obj("same", namespace="", labels={"to": "all"}), "rules": [rule]}
    other = {**obj("other", namespace=""), "rules": [{"verbs": ["*"]}]}

    assert cluster_roles.gathered(role, [role, some, same, other]) == [rule]


def test_a_namespace_tells_what_remains_in_it() -> None:
    remains = Remains()
    remains.count("configmaps.", [obj("a", finalizers=["x/y"]), obj("b")])

    told = {one["type"]: (one["status"], one["message"]) for one in remains.conditions([], now=NOW)}

    assert told["NamespaceContentRemaining"] == (
        "True",
        "Some resources are remaining: configmaps. has 2 resource instances",
    )
    assert told["NamespaceFinalizersRemaining"] == (
        "True",
        "Some content in the namespace has finalizers remaining: x/y in 1 resource instances",
    )
    assert told["NamespaceDeletionContentFailure"][0] == "False"


def test_what_a_namespace_has_told_keeps_its_time() -> None:
    before = Remains().conditions([], now=BEFORE)

    assert Remains().conditions(before, now=NOW) == before
