from typing import Any

import orjson
import pytest

from aio_apiserver.apiserver.aggregation import documents
from aio_apiserver.apiserver.aggregation.documents import UnreadableDocument

ROOT = "/apis/hello.example.com/v1"


def swagger(**document: Any) -> bytes:
    return orjson.dumps({"swagger": "2.0", "paths": {}, **document})


def test_a_document_is_narrowed_to_what_is_registered() -> None:
    told = documents.openapi2(swagger(paths={f"{ROOT}/x": {}, f"{ROOT}beta1/x": {}, "/version": {}}), ROOT)

    assert list(told["paths"]) == [f"{ROOT}/x"]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{}",
        swagger(paths=[]),
        swagger(paths={f"{ROOT}/x": {"get": {"parameters": [{"name": "x"}]}}}),
        swagger(paths={f"{ROOT}/x": {"get": {"responses": 7}}}),
        b'{"paths": {"%b/x": %b%b}}' % (ROOT.encode(), b'{"a":' * 300 + b"1", b"}" * 300),
        b'{"paths": {"%b/x": %b%b}}' % (ROOT.encode(), b'{"a":' * 900 + b"1", b"}" * 900),
    ],
)
def test_a_document_that_cannot_be_told_on_is_unreadable(body: bytes) -> None:
    with pytest.raises(UnreadableDocument):
        documents.openapi2(body, ROOT)


@pytest.mark.parametrize(
    "body",
    [
        b"x",
        b"[]",
        b'{"items": [1]}',
        b'{"items": [{"versions": [{}]}]}',
        b'{"items": [{"versions": [{"version": "v1", "resources": [{"verbs": 7}]}]}]}',
        b'{"items": [{"versions": [{"version": 1}]}]}',
    ],
)
def test_a_list_that_is_none_is_unreadable(body: bytes) -> None:
    with pytest.raises(UnreadableDocument):
        documents.versions_of_list(body)


def test_resources_are_told_with_their_subresources() -> None:
    body = orjson.dumps(
        {
            "resources": [
                {"name": "a/status", "kind": "A", "verbs": ["get"]},
                {"name": "a", "singularName": "one", "namespaced": True, "kind": "A", "verbs": ["list"]},
            ]
        }
    )

    told = documents.version_of_resources(body, "v1")

    kind = {"group": "", "version": "", "kind": "A"}
    assert told["resources"] == [
        {
            "resource": "a",
            "subresources": [{"subresource": "status", "responseKind": kind, "verbs": ["get"]}],
            "responseKind": kind,
            "scope": "Namespaced",
            "singularResource": "one",
            "verbs": ["list"],
        }
    ]


@pytest.mark.parametrize(
    ("content_type", "is_aggregated"),
    [
        ("application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList", True),
        ("application/json; as=APIGroupDiscoveryList; v=v2beta1; g=apidiscovery.k8s.io", True),
        ("application/json;g=apidiscovery.k8s.io;v=v3;as=APIGroupDiscoveryList", False),
        ("application/json", False),
    ],
)
def test_aggregated_discovery_is_known_by_its_type(content_type: str, is_aggregated: bool) -> None:
    assert documents.is_aggregated(content_type) is is_aggregated
