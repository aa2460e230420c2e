from collections.abc import Mapping, Sequence

import pytest

from aio_apiserver.apiserver.wire import request_info
from aio_apiserver.apiserver.wire.request_info import RequestInfo

NAMESPACED = ("POST", "create"), ("PUT", "update"), ("PATCH", "patch"), ("OPTIONS", ""), ("FOO", "")


def resolve(method: str, path: str, **query: Sequence[str]) -> RequestInfo:
    return request_info.resolve(method, path, query)


def summary(info: RequestInfo) -> tuple[str, str, str, str, str, str, str]:
    return info.verb, info.group, info.version, info.namespace, info.resource, info.name, info.subresource


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("GET /api/v1/namespaces/ns/pods/web", ("get", "", "v1", "ns", "pods", "web", "")),
        ("HEAD /api/v1/namespaces/ns/pods/web", ("get", "", "v1", "ns", "pods", "web", "")),
        ("GET /api/v1/namespaces/ns/pods/web/log", ("get", "", "v1", "ns", "pods", "web", "log")),
        ("GET /api/v1/namespaces/ns/pods/web/proxy/a/b", ("get", "", "v1", "ns", "pods", "web", "proxy")),
        ("GET /api/v1/namespaces/ns/pods", ("list", "", "v1", "ns", "pods", "", "")),
        ("GET /api/v1/pods", ("list", "", "v1", "", "pods", "", "")),
        ("GET /api/v1/pods/", ("list", "", "v1", "", "pods", "", "")),
        (
            "DELETE /apis/apps/v1/namespaces/ns/deployments",
            ("deletecollection", "apps", "v1", "ns", "deployments", "", ""),
        ),
        ("DELETE /apis/apps/v1/namespaces/ns/deployments/d", ("delete", "apps", "v1", "ns", "deployments", "d", "")),
        ("GET /api/v1/namespaces", ("list", "", "v1", "", "namespaces", "", "")),
        ("GET /api/v1/namespaces/ns", ("get", "", "v1", "ns", "namespaces", "ns", "")),
        ("PUT /api/v1/namespaces/ns/status", ("update", "", "v1", "ns", "namespaces", "ns", "status")),
        ("PUT /api/v1/namespaces/ns/finalize", ("update", "", "v1", "ns", "namespaces", "ns", "finalize")),
        ("GET /api/v1/watch/namespaces/ns/pods", ("watch", "", "v1", "ns", "pods", "", "")),
        ("GET /api/v1/watch/namespaces/ns/pods/web", ("watch", "", "v1", "ns", "pods", "web", "")),
        ("GET /api/v1/proxy/namespaces/ns/pods/web/x", ("proxy", "", "v1", "ns", "pods", "web", "")),
        ("GET /api//v1", ("list", "", "", "", "v1", "", "")),
        ("GET /apis//apps/v1", ("list", "", "apps", "", "v1", "", "")),
    ],
)
def test_reads_resource_paths(target: str, expected: tuple[str, ...]) -> None:
    method, path = target.split(" ")

    info = resolve(method, path)

    assert info.is_resource
    assert summary(info) == expected


@pytest.mark.parametrize(
    "path", ["/", "/healthz", "/api", "/api/v1", "/api/v1/", "/apis", "/apis/apps", "/apis/apps/v1", "/version/x/y/z"]
)
def test_other_paths_have_their_method_for_a_verb(path: str) -> None:
    info = resolve("POST", path)

    assert not info.is_resource
    assert (info.verb, info.path) == ("post", path)


@pytest.mark.parametrize(("method", "verb"), NAMESPACED)
def test_methods_are_verbs(method: str, verb: str) -> None:
    assert resolve(method, "/api/v1/namespaces/ns/pods").verb == verb


@pytest.mark.parametrize(
    ("query", "verb"),
    [
        ({}, "list"),
        ({"watch": ["1"]}, "watch"),
        ({"watch": [""]}, "watch"),
        ({"watch": ["maybe"]}, "watch"),
        ({"watch": ["false"]}, "list"),
        ({"watch": ["False"]}, "list"),
        ({"watch": ["0", "1"]}, "list"),
    ],
)
def test_a_list_may_be_a_watch(query: Mapping[str, Sequence[str]], verb: str) -> None:
    assert request_info.resolve("GET", "/api/v1/pods", query).verb == verb


def test_watch_on_an_item_is_a_get() -> None:
    assert resolve("GET", "/api/v1/namespaces/ns/pods/web", watch=["1"]).verb == "get"


@pytest.mark.parametrize(
    ("selector", "name"),
    [
        ("metadata.name=web", "web"),
        ("metadata.name==web", "web"),
        ("spec.nodeName=n,metadata.name=web", "web"),
        ("metadata.name!=web", ""),
        ("metadata.name=a/b", ""),
        ("metadata.name=..", ""),
        ("metadata.name=", ""),
    ],
)
def test_a_field_selector_can_name_the_object(selector: str, name: str) -> None:
    assert resolve("GET", "/api/v1/pods", fieldSelector=[selector]).name == name


@pytest.mark.parametrize("path", ["/api/v1/watch", "/api/v1/watch/", "/api/v1/proxy", "/apis/apps/v1/watch"])
def test_a_verb_needs_something_that_it_is_for(path: str) -> None:
    with pytest.raises(request_info.UnreadablePath):
        resolve("GET", path)


@pytest.mark.parametrize(
    ("target", "is_long_running"),
    [
        ("GET /api/v1/watch/pods", True),
        ("GET /api/v1/namespaces/ns/pods/web/log", True),
        ("POST /api/v1/namespaces/ns/pods/web/exec", True),
        ("GET /api/v1/namespaces/ns/pods/web", False),
        ("GET /healthz", False),
        ("GET /debug/pprof/goroutine", True),
        ("GET /debug/pprof", False),
    ],
)
def test_knows_what_runs_long(target: str, *, is_long_running: bool) -> None:
    assert resolve(*target.split(" ")).is_long_running == is_long_running
