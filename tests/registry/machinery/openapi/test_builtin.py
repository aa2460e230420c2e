from aio_apiserver.registry.machinery.openapi import paths
from aio_apiserver.registry.machinery.openapi.builtin_routes import article
from tests.registry.machinery.openapi.resources import EVICTION, NODES, POD_EXEC, POD_LOG, PODS, core


def test_a_namespaced_resource_is_at_all_its_paths() -> None:
    source = core(PODS)

    paths = {(route.method, route.path.removeprefix("/api/v1/")): route.action for route in source.routes()}

    assert paths == {
        ("get", ""): "",
        ("get", "pods"): "list",
        ("get", "namespaces/{namespace}/pods"): "list",
        ("post", "namespaces/{namespace}/pods"): "post",
        ("delete", "namespaces/{namespace}/pods"): "deletecollection",
        ("get", "namespaces/{namespace}/pods/{name}"): "get",
        ("put", "namespaces/{namespace}/pods/{name}"): "put",
        ("patch", "namespaces/{namespace}/pods/{name}"): "patch",
        ("delete", "namespaces/{namespace}/pods/{name}"): "delete",
        ("get", "watch/pods"): "watchlist",
        ("get", "watch/namespaces/{namespace}/pods"): "watchlist",
        ("get", "watch/namespaces/{namespace}/pods/{name}"): "watch",
    }


def test_a_resource_of_the_cluster_names_no_namespace() -> None:
    source = core(NODES)

    routes = [route for route in source.routes() if route.kind is not None]

    assert not [route for route in routes if "namespace" in route.path.lower() + route.operation.lower()]


def test_connections_have_a_route_for_each_method() -> None:
    source = core(POD_EXEC)

    found = {route.operation: route for route in source.routes()}

    assert {"connectGetNamespacedPodExec", "connectPostNamespacedPodExec"} < found.keys()
    post = found["connectPostNamespacedPodExec"]
    assert post.description == "connect POST requests to exec of Pod"
    assert "name of the PodExecOptions" in {one.description for one in post.parameters}
    assert {"command", "container", "tty"} < {one.name for one in post.parameters}


def test_logs_are_read_as_text() -> None:
    source = core(POD_LOG)

    log = next(route for route in source.routes() if route.operation == "readNamespacedPodLog")

    assert log.produces[0] == "text/plain"
    assert log.responses[200].definition == ""
    assert "tailLines" in {one.name for one in log.parameters}


def test_a_subresource_is_named_by_its_parent_and_typed_by_itself() -> None:
    source = core(EVICTION)

    eviction = source.routes()[-1]

    assert eviction.operation == "createNamespacedPodEviction"
    assert eviction.description == "create eviction of a Pod"
    assert eviction.kind == EVICTION.object_kind
    assert eviction.body == "io.k8s.api.policy.v1.Eviction"


def test_ids_name_group_and_version() -> None:
    core_id = paths.of("listNamespacedPod", "/api/v1/namespaces/{namespace}/pods")
    group_id = paths.of("deletecollectionFlowSchema", "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas")
    other_id = paths.of("getCodeVersion", "/version/")

    assert core_id == ("listCoreV1NamespacedPod", ["core_v1"])
    assert group_id == (
        "deleteFlowcontrolApiserverV1CollectionFlowSchema",
        ["flowcontrolApiserver_v1"],
    )
    assert other_id == ("getCodeVersion", ["version"])


def test_nouns_have_articles_unless_they_are_plurals() -> None:
    assert [article(noun) for noun in ("Pod", "Ingress", "Endpoints")] == ["a Pod", "an Ingress", "Endpoints"]
