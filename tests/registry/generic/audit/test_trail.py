"""Trails: events contain what their level allows, and no more."""

from typing import Any

import orjson
import pytest

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.registry.generic.access.impersonation import Impersonated
from aio_apiserver.registry.generic.access.users import UserInfo
from aio_apiserver.registry.generic.audit import lines
from aio_apiserver.registry.generic.audit.levels import Level, Stage
from aio_apiserver.registry.generic.audit.policy import Recording
from aio_apiserver.registry.generic.audit.trail import Event, Trail

OBJECT = {"kind": "Secret", "metadata": {"name": "s", "managedFields": [{}]}, "data": {"k": "hidden"}}


class Told:
    """Remembers events in their encoded form."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []

    async def __call__(self, event: Event) -> bool:
        self.events.append(orjson.loads(lines.in_json(event)))
        return True


def trail(
    told: Told,
    recording: Recording,
    *,
    verb: str = "create",
    received: float = 1_700_000_000.5,
    is_long_running: bool = False,
) -> Trail:
    return Trail(
        recording=recording,
        tell=told,
        clock=ManualClock(),
        audit_id="id",
        uri="/api/v1/namespaces/a/secrets",
        verb=verb,
        user=UserInfo(name="alice", groups=("devs",)),
        source_ips=["::1"],
        user_agent='curl "x"',
        received=received,
        is_long_running=is_long_running,
        reference={"resource": "secrets", "namespace": "a", "apiVersion": "v1"},
    )


@pytest.mark.parametrize(
    ("level", "has_request", "has_response"),
    [
        (Level.METADATA, False, False),
        (Level.REQUEST, True, False),
        (Level.REQUEST_RESPONSE, True, True),
    ],
)
async def test_bodies_are_in_an_event_from_their_level_on(level: Level, has_request: bool, has_response: bool) -> None:
    told = Told()
    begun = trail(told, Recording(level))

    begun.requested(OBJECT)
    begun.answered(OBJECT)
    begun.refer(OBJECT["metadata"])  # type: ignore[arg-type]
    await begun.reach(Stage.RESPONSE_COMPLETE)

    assert ("requestObject" in told.events[0], "responseObject" in told.events[0]) == (has_request, has_response)
    assert told.events[0]["objectRef"] == {"resource": "secrets", "namespace": "a", "name": "s", "apiVersion": "v1"}
    assert ("hidden" in str(told.events)) is has_request


@pytest.mark.parametrize(
    "value",
    [
        OBJECT,
        {"kind": "SecretList", "items": [OBJECT]},
        {"kind": "Table", "rows": [{"cells": [], "object": OBJECT}, {"cells": [], "object": None}]},
    ],
)
async def test_managed_fields_can_be_left_out(value: dict[str, Any]) -> None:
    told = Told()
    begun = trail(told, Recording(Level.REQUEST_RESPONSE, omits_managed_fields=True))

    begun.answered(value)
    await begun.reach(Stage.RESPONSE_COMPLETE)

    assert "managedFields" not in str(told.events)
    assert "hidden" in str(told.events)
    assert "managedFields" in str(value)


async def test_of_two_notes_by_one_key_the_first_counts() -> None:
    told = Told()
    begun = trail(told, Recording(Level.METADATA))

    begun.annotate("key", "one")
    begun.annotate("key", "two")
    begun.annotate("patch", "p", Level.REQUEST)
    await begun.reach(Stage.RESPONSE_COMPLETE)

    assert told.events[0]["annotations"] == {"key": "one"}


async def test_only_what_goes_on_for_long_starts() -> None:
    told = Told()

    await trail(told, Recording(Level.METADATA)).started(200)
    long = trail(told, Recording(Level.METADATA), is_long_running=True)
    await long.started(200)
    await long.started(200)

    assert [event["stage"] for event in told.events] == ["ResponseStarted"]


@pytest.mark.parametrize(
    ("verb", "seconds", "annotations"),
    [
        ("create", 0.75, {"apiserver.latency.k8s.io/total": "750ms"}),
        ("create", 0.25, {}),
        ("watch", 60.0, {}),
    ],
)
async def test_a_slow_request_is_annotated_with_its_duration(
    verb: str, seconds: float, annotations: dict[str, str]
) -> None:
    told = Told()
    one = trail(told, Recording(Level.METADATA), verb=verb, received=1_700_000_000.0 - seconds)

    await one.reach(Stage.RESPONSE_COMPLETE)

    assert told.events[0].get("annotations", {}) == annotations


async def test_stages_can_be_left_out() -> None:
    told = Told()
    begun = trail(told, Recording(Level.METADATA, frozenset({Stage.REQUEST_RECEIVED})))

    assert await begun.reach(Stage.REQUEST_RECEIVED)
    assert told.events == []


async def test_the_text_of_an_event_is_kube_apiservers() -> None:
    told = Told()
    begun = trail(told, Recording(Level.METADATA))
    begun.impersonated = Impersonated(UserInfo(name="jane"), "impersonate:user-info")
    begun.coded(201)

    await begun.reach(Stage.RESPONSE_COMPLETE)

    assert told.events[0]["authenticationMetadata"] == {"impersonationConstraint": "impersonate:user-info"}
    assert lines.text(told.events[0]) == (
        '2023-11-14T22:13:20.5Z AUDIT: id="id" stage="ResponseComplete" ip="::1" method="create" user="alice" '
        'groups="\\"devs\\"" as="jane" asgroups="<lookup>" user-agent="curl \\"x\\"" namespace="a" '
        'uri="/api/v1/namespaces/a/secrets" response="201"'
    )
