"""Webhooks that change objects."""

from typing import Any

import orjson
import pytest

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.registry.base.errors import BadRequest, InternalError, StatusError
from aio_apiserver.registry.generic.admission.chain import AdmissionMetrics, MeasuredChain
from aio_apiserver.registry.generic.admission.interface import Operation
from aio_apiserver.registry.generic.audit.levels import Level
from aio_apiserver.registry.generic.webhook_calls import WebhookFailed
from aio_apiserver.registry.plugins.admission.webhooks.mutating import MutatingAdmissionWebhook
from tests.registry.plugins.admission.webhooks.calls import (
    Answer,
    Programs,
    a_config_map,
    annotates,
    configured,
    patches,
    says,
    webhook,
)


async def test_each_webhook_sees_what_those_before_it_have_made() -> None:
    programs = Programs({"one": annotates("first"), "two": says()})
    write = a_config_map()

    async with configured(MutatingAdmissionWebhook, programs, webhook("one"), webhook("two")) as plugin:
        await plugin.mutate(write)

    assert write.obj is not None
    assert write.obj["metadata"]["annotations"] == {"x": "y", "first": "yes"}
    assert "kind" not in write.obj
    assert programs.asked[1][1]["request"]["object"]["metadata"]["annotations"] == {"x": "y", "first": "yes"}


async def test_a_webhook_is_asked_again_when_it_wants_to_see_later_changes_and_only_once() -> None:
    programs = Programs({"one": annotates("first"), "two": annotates("second"), "three": annotates("third")})
    hooks = [webhook("one", reinvocationPolicy="IfNeeded"), webhook("two"), webhook("three")]
    write = a_config_map()

    async with configured(MutatingAdmissionWebhook, programs, *hooks) as plugin:
        await MeasuredChain([plugin], AdmissionMetrics(), ManualClock()).mutate(write)

    assert programs.urls == ["one", "two", "three", "one"]


async def test_no_webhook_is_called_again_without_a_later_change() -> None:
    programs = Programs({"one": says(), "two": annotates("x")})
    hooks = [webhook("two", reinvocationPolicy="IfNeeded"), webhook("one")]
    write = a_config_map()

    async with configured(MutatingAdmissionWebhook, programs, *hooks) as plugin:
        await MeasuredChain([plugin], AdmissionMetrics(), ManualClock()).mutate(write)

    assert programs.urls == ["two", "one"]


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (patches({"op": "remove", "path": "/data/none"}), "error in remove for path: '/data/none'"),
        (patches({"op": "add", "path": "/data/k", "value": 5}), "json: cannot unmarshal number into Go struct field"),
        (patches({"op": "replace", "path": "/kind", "value": "Pod"}), 'no kind "Pod" is registered'),
        (says(patchType="JSONPatch", patch="e30="), "received undecodable patch in webhook response"),
        (says(patch="W10="), "webhook returned response.patch but not response.patchType"),
        (says(patchType="JSONPatch"), "webhook returned response.patchType but not response.patch"),
        (says(patchType="Merge", patch="W3sib3AiOiJ0ZXN0In1d"), 'unsupported patch type "Merge"'),
    ],
)
async def test_a_patch_that_cannot_be_carried_out_changes_nothing(answer: Answer, why: str) -> None:
    write = a_config_map()

    async with configured(MutatingAdmissionWebhook, Programs({"one": answer}), webhook("one")) as plugin:
        with pytest.raises(InternalError) as raised:
            await plugin.mutate(write)

    assert why in raised.value.message
    assert write.obj == a_config_map().obj


async def test_what_is_deleted_cannot_be_changed() -> None:
    deletion = a_config_map(operation=Operation.DELETE, obj=None, old=a_config_map().obj)

    async with configured(MutatingAdmissionWebhook, Programs({"one": annotates("a")}), webhook("one")) as plugin:
        with pytest.raises(InternalError, match="attempted to modify the object, which is not supported"):
            await plugin.mutate(deletion)


async def test_a_webhook_that_fails_is_left_out_where_that_is_allowed() -> None:
    def fail(_request: object) -> dict[str, object]:
        raise WebhookFailed("EOF")

    programs = Programs({"one": fail, "two": annotates("second")})
    write = a_config_map()

    async with configured(
        MutatingAdmissionWebhook, programs, webhook("one", failurePolicy="Ignore"), webhook("two")
    ) as plugin:
        await plugin.mutate(write)

    assert write.obj is not None
    assert write.obj["metadata"]["annotations"]["second"] == "yes"


async def test_a_dry_run_is_kept_from_webhooks_with_side_effects_whatever_their_policy() -> None:
    programs = Programs({"one": says()})
    hook = webhook("one", sideEffects="Some", failurePolicy="Ignore")

    async with configured(MutatingAdmissionWebhook, programs, hook) as plugin:
        with pytest.raises(BadRequest, match=r'admission webhook "one\.example\.com" does not support dry run'):
            await plugin.mutate(a_config_map(is_dry_run=True))

    assert programs.asked == []


async def test_a_no_carries_its_own_status_and_warnings() -> None:
    warnings: list[str] = []
    status = {"code": 200, "reason": "Odd", "details": {"retryAfterSeconds": 3}}
    answer = says(allowed=False, status=status, warnings=["careful"])

    async with configured(MutatingAdmissionWebhook, Programs({"one": answer}), webhook("one")) as plugin:
        with pytest.raises(StatusError) as raised:
            await plugin.mutate(a_config_map(warn=warnings.append))

    assert raised.value.status() == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": 'admission webhook "one.example.com" denied the request: Odd',
        "reason": "Odd",
        "details": {"retryAfterSeconds": 3},
        "code": 400,
    }
    assert raised.value.retry_after_seconds == 3
    assert warnings == ["careful"]


async def test_the_record_of_a_request_says_what_webhooks_have_made_of_it() -> None:
    noted: dict[str, tuple[Any, Level]] = {}

    def annotate(key: str, value: str, level: Level = Level.METADATA) -> None:
        noted[key] = (orjson.loads(value) if value.startswith("{") else value, level)

    def fail(_request: object) -> dict[str, object]:
        raise WebhookFailed("EOF")

    programs = Programs(
        {"one": annotates("first"), "two": fail, "three": says(auditAnnotations={"k": "v", "a/b": "c"})}
    )
    hooks = [webhook("one"), webhook("two", failurePolicy="Ignore"), webhook("three")]

    async with configured(MutatingAdmissionWebhook, programs, *hooks) as plugin:
        await plugin.mutate(a_config_map(annotate=annotate))

    told = {"configuration": "c", "webhook": "one.example.com"}
    operation = {"op": "add", "path": "/metadata/annotations/first", "value": "yes"}
    patch = {**told, "patch": [operation], "patchType": "JSONPatch"}
    assert noted["mutation.webhook.admission.k8s.io/round_0_index_0"] == ({**told, "mutated": True}, Level.METADATA)
    assert noted["patch.webhook.admission.k8s.io/round_0_index_0"] == (patch, Level.REQUEST)
    assert noted["failed-open.mutation.webhook.admission.k8s.io/round_0_index_1"][0] == "two.example.com"
    assert noted["mutation.webhook.admission.k8s.io/round_0_index_1"][0]["mutated"] is False
    assert noted["three.example.com/k"] == ("v", Level.METADATA)
    assert not any("a/b" in key for key in noted)
