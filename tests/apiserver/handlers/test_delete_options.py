"""The options of a deletion: their forms, and the messages for invalid ones."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from aio_apiserver.apiserver.server import Server
from tests.apiserver.serving import as_admin, ask, running

JSON = "application/json"
YAML = "application/yaml"
PROTOBUF = "application/vnd.kubernetes.protobuf"
MAP = "/api/v1/namespaces/default/configmaps/a"
REFUSED = {
    "another kind": (
        b'{"kind": "Pod", "apiVersion": "apps/v1"}',
        JSON,
        'no kind "Pod" is registered for version "apps/v1" in scheme '
        '"k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27"',
    ),
    "a form": (b'{"kind": "Table"}', JSON, "converting (v1.Table) to (v1.DeleteOptions): unknown conversion"),
    "a form of another group": (b'{"kind": "Table", "apiVersion": "v1"}', JSON, 'no kind "Table" is registered'),
    "no version": (b'{"apiVersion": "apps/"}', JSON, "Object 'apiVersion' is missing in '{\"apiVersion\": \"apps/\"}'"),
    "no group": (b'{"apiVersion": "a/b/c"}', JSON, "unexpected GroupVersion string: a/b/c"),
    "a type that is no text": (b'{"kind": 1}', JSON, "couldn't get version/kind; json parse error: json: cannot"),
    "another type": (
        b'{"dryRun": "All"}',
        JSON,
        "json: cannot unmarshal string into Go struct field DeleteOptions.dry",
    ),
    "no object": (b"[]", JSON, "couldn't get version/kind; json parse error: json: cannot unmarshal array into Go"),
    "no YAML": (b"x: [", YAML, "yaml: line 1: did not find expected node content"),
    "an unknown alias": (b"x: *y", YAML, "yaml: unknown anchor 'y' referenced"),
    "no message": (b"k8s\0", PROTOBUF, "empty body"),
    "no protobuf": (b"{}", PROTOBUF, "provided data does not appear to be a protobuf message, expected prefix [107 56"),
}


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Server]:
    async with running(tmp_path) as started:
        yield started


async def told(server: Server, body: bytes, media_type: str) -> str:
    headers = {"Content-Type": media_type}
    answer = await ask(server.secure.port, MAP, method="DELETE", headers=headers, body=body, tls=as_admin(server))
    message: str = answer.json["message"]
    return message


async def test_what_are_no_options_is_told_as_it_is(server: Server) -> None:
    answers = {what: await told(server, body, media_type) for what, (body, media_type, _) in REFUSED.items()}

    wrong = {what: text for what, text in answers.items() if not text.startswith(REFUSED[what][2])}
    assert wrong == {}


async def test_options_may_be_of_any_group_and_version(server: Server) -> None:
    versions = ("v1", "v2", "meta.k8s.io/v1", "apps/v1", "example.com/v9")

    answers = [
        await told(server, b'{"kind": "DeleteOptions", "apiVersion": "%b"}' % version.encode(), JSON)
        for version in versions
    ]

    assert answers == ['configmaps "a" not found'] * len(versions)
