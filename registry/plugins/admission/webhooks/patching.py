"""Patching: applies the JSON patch of a webhook's response to the object. Pure."""

from collections.abc import Sequence
from typing import Any

import orjson

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects, schemes
from aio_apiserver.registry.base.errors import InternalError, RequestEntityTooLarge, Unprocessable
from aio_apiserver.registry.base.golang import json_errors
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.timeline import Version
from aio_apiserver.registry.generic.admission.form import AdmissionForm
from aio_apiserver.registry.machinery.patch import body_errors, json_patch
from aio_apiserver.registry.machinery.patch.json_patch import Inapplicable
from aio_apiserver.registry.machinery.schema import DecodeError
from aio_apiserver.registry.plugins.admission.webhooks.configurations import AdmissionWebhook
from aio_apiserver.registry.plugins.admission.webhooks.failures import CallFailed
from aio_apiserver.registry.plugins.admission.webhooks.responses import JSON_PATCH, WebhookResponse

_NO_KIND = 'no kind {kind} is registered for version {version} in scheme "{scheme}"'


def operations_of(webhook: AdmissionWebhook, answer: WebhookResponse) -> Sequence[Any]:
    """The operations of the response's patch, if there is one. Raises CallFailed."""
    return _operations(webhook, answer.patch) if answer.patch else ()


def patched(
    webhook: AdmissionWebhook,
    answer: WebhookResponse,
    operations: Sequence[Any],
    *,
    form: AdmissionForm,
    obj: Object | None,
    version: Version,
) -> Object:
    """The patched object, without defaults. Raises CallFailed, InternalError."""
    if obj is None:
        name = quote(webhook.name)
        why = f"admission webhook {name} attempted to modify the object, which is not supported for this operation"
        raise InternalError(why)
    if answer.patch_type != JSON_PATCH:
        raise CallFailed(webhook.name, f"unsupported patch type {quote(answer.patch_type)}", code=400)
    return _parsed(_applied(objects.clone(obj), operations), form, version)


def _operations(webhook: AdmissionWebhook, text: bytes) -> list[Any]:
    try:
        operations = orjson.loads(text)
        mistake = body_errors.operations_mismatch(operations, is_strict=False)
    except orjson.JSONDecodeError as exc:
        mistake = json_errors.describe(text) or str(exc)
    if mistake:
        raise CallFailed(webhook.name, f"received undecodable patch in webhook response: {mistake}")
    return operations or []


def _applied(document: Object, operations: Sequence[Any]) -> Any:
    try:
        return json_patch.applied(document, operations)
    except Inapplicable as exc:
        raise InternalError(exc.why) from exc
    except (Unprocessable, RequestEntityTooLarge) as exc:
        raise InternalError(exc.message) from exc


def _parsed(value: Any, form: AdmissionForm, version: Version) -> Object:
    try:
        if isinstance(value, dict):
            _check_kind(value, form, version)
        return form.parsed(value)
    except DecodeError as exc:
        raise InternalError(exc.message) from exc


def _check_kind(value: Object, form: AdmissionForm, version: Version) -> None:
    """Check that a patch keeps kind and apiVersion. A missing one counts as unchanged."""
    kind, api_version = value.get("kind") or form.kind.kind, value.get("apiVersion") or form.kind.api_version
    if (kind, api_version) != (form.kind.kind, form.kind.api_version):
        scheme = schemes.place_of(schemes.of_group(form.kind.group), version)
        raise InternalError(_NO_KIND.format(kind=quote(str(kind)), version=quote(str(api_version)), scheme=scheme))
