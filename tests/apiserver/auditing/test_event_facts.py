"""Event facts: events contain what kube-apiserver's contain, where the response does not tell it."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
import pytest_asyncio

from tests.apiserver.serving import as_admin, ask, running
from tests.registry.groups.apiextensions.example_definitions import definition, version

pytestmark = pytest.mark.asyncio(loop_scope="module")

POLICY = """\
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- {level: Metadata, resources: [{group: "", resources: [secrets]}]}
- {level: RequestResponse}
"""
DEFAULT = "/api/v1/namespaces/default"

Event = dict[str, Any]
Recorded = Callable[..., Awaitable[Event]]
RecordedStages = Callable[..., Awaitable[list[Event]]]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def recorded_stages(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RecordedStages]:
    """Sends a request and returns its events; `line` is the text of one."""
    directory = tmp_path_factory.mktemp("audited")
    policy, log = directory / "policy.yaml", directory / "audit.log"
    policy.write_text(POLICY)
    flags = {"audit_policy_file": policy, "audit_log_path": log, "disable_admission_plugins": ("ServiceAccount",)}
    async with running(directory / "data", **flags) as started:

        async def send(target: str, body: Any = None, *, method: str = "", **headers: str) -> list[Event]:
            seen = log.stat().st_size
            data = b"" if body is None else orjson.dumps(body)
            method = method or ("GET" if body is None else "POST")
            fields = {"Content-Type": "application/json", "Audit-ID": "this", **headers}
            await ask(started.secure.port, target, method=method, body=data, headers=fields, tls=as_admin(started))
            return _all(log, seen)

        yield send


@pytest.fixture(scope="module")
def recorded(recorded_stages: RecordedStages) -> Recorded:
    """Sends a request and returns its one event."""

    async def send(*arguments: Any, **more: Any) -> Event:
        (event,) = await recorded_stages(*arguments, **more)
        return event

    return send


def _all(log: Path, seen: int) -> list[Event]:
    lines = [line for line in log.read_bytes()[seen:].splitlines() if b'"auditID":"this"' in line]
    return [{**orjson.loads(line), "line": line} for line in lines]


async def test_the_object_of_a_request_has_the_empty_members_that_go_prints(recorded: Recorded) -> None:
    pod = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}

    sent = (await recorded(f"{DEFAULT}/pods", pod))["requestObject"]

    assert (sent["status"], sent["spec"]["containers"][0]["resources"]) == ({}, {})


async def test_the_object_of_a_request_has_the_empty_lists_of_the_client(recorded: Recorded) -> None:
    path = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"
    slices = {"metadata": {"name": "s"}, "addressType": "IPv4", "endpoints": []}

    sent = (await recorded(path, slices))["requestObject"]

    assert (sent["endpoints"], sent["ports"]) == ([], None)


async def test_the_object_of_a_request_has_the_defaults_of_its_type(recorded: Recorded) -> None:
    token = await recorded(f"{DEFAULT}/serviceaccounts/none/token", {"spec": {}})

    assert token["requestObject"]["spec"] == {"audiences": None, "expirationSeconds": 3600, "boundObjectRef": None}
    assert token["requestObject"]["status"] == {"token": "", "expirationTimestamp": None}


async def test_the_options_of_a_delete_are_in_their_internal_version(recorded: Recorded) -> None:
    options = {"propagationPolicy": "Orphan", "gracePeriodSeconds": 0}

    deletion = await recorded(f"{DEFAULT}/pods/none", options, method="DELETE")

    assert list(deletion["requestObject"].items()) == [
        ("kind", "DeleteOptions"),
        ("apiVersion", "meta.k8s.io/__internal"),
        ("gracePeriodSeconds", 0),
        ("propagationPolicy", "Orphan"),
    ]


async def test_a_status_in_the_response_is_recorded_at_the_level_metadata(recorded: Recorded) -> None:
    await recorded(f"{DEFAULT}/secrets", {"metadata": {"name": "s"}})
    deletion = await recorded(f"{DEFAULT}/secrets/s", method="DELETE")

    status = deletion["responseStatus"]
    assert (status["status"], status["code"]) == ("Success", 200)
    assert status["details"].keys() == {"name", "kind", "uid"}
    assert "responseObject" not in deletion


async def test_the_empty_details_of_a_status_are_recorded(recorded: Recorded) -> None:
    unknown = await recorded("/api/v1/nothings")

    assert (unknown["responseStatus"]["reason"], unknown["responseStatus"]["details"]) == ("NotFound", {})


async def test_of_a_format_that_is_not_served_the_code_alone_is_recorded(recorded: Recorded) -> None:
    refused = await recorded(f"{DEFAULT}/pods", Accept="text/html")

    assert refused["responseStatus"] == {"metadata": {}, "code": 406}
    assert "responseObject" not in refused


async def test_a_timeout_that_is_no_duration_is_recorded_without_a_user(recorded: Recorded) -> None:
    refused = await recorded(f"{DEFAULT}/pods?timeout=bad")

    assert (refused["stage"], refused["user"], refused["responseStatus"]["code"]) == ("ResponseStarted", {}, 400)
    assert refused["responseObject"]["reason"] == "BadRequest"


async def test_an_event_escapes_what_go_escapes(recorded: Recorded) -> None:
    named = await recorded(f"{DEFAULT}/configmaps", {"metadata": {"name": "m"}, "data": {"k": "<&>"}})

    assert rb'"k":"\u003c\u0026\u003e"' in named["line"]
    assert named["requestObject"]["data"] == {"k": "<&>"}


async def test_the_event_of_a_watch_that_is_deprecated_says_so_at_the_end(recorded_stages: RecordedStages) -> None:
    events = await recorded_stages("/api/v1/componentstatuses?watch=1&timeoutSeconds=1")

    marked = {event["stage"]: event["annotations"].get("k8s.io/deprecated") for event in events}
    assert marked == {"ResponseStarted": None, "ResponseComplete": "true"}


async def test_the_object_of_a_request_has_the_kind_of_the_client(recorded: Recorded) -> None:
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    served = definition("widgets", version("v1", storage=True, schema=schema))
    created = await recorded("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", served)
    assert created["responseStatus"]["code"] == 201, created
    body = {"apiVersion": "example.com/v1", "kind": "Gadget", "metadata": {"name": "x"}}

    refused = await recorded("/apis/example.com/v1/namespaces/default/widgets", body)

    assert (refused["responseStatus"]["code"], refused["requestObject"]["kind"]) == (422, "Gadget")
