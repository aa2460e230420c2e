"""Conversion: converts custom resources between versions, and restores them from their stored version.

Without a webhook, a conversion changes the apiVersion and prunes fields that the other version's schema lacks.

Must hold: a conversion webhook cannot change kind, name, namespace or UID. Of the metadata, it can change labels and
annotations.
"""

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from aio_apiserver.base import tracing
from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.validation import object_meta
from aio_apiserver.registry.generic.webhook_calls import CallWebhook, OutOfTime, WebhookFailed
from aio_apiserver.registry.groups.apiextensions.definitions.definition import Definition
from aio_apiserver.registry.groups.apiextensions.validation import conversion_validation
from aio_apiserver.registry.machinery.custom_types.custom_type import CustomType
from aio_apiserver.storage.errors import Untranslatable

Types = Mapping[str, CustomType]
"""The types of a definition by version."""


_SECONDS = 30.0
_SLOW_SECONDS = 0.058
"""When kube-apiserver logs the conversion of one object: 50 ms for the request, 8 for the object."""
_LATE = " (Client.Timeout exceeded while awaiting headers)"
_REVIEW_GROUP = "apiextensions.k8s.io"


def restored(definition: Definition, types: Types, value: Object) -> tuple[str, Object]:
    """The version in which a value is stored, and the object without apiVersion and kind, as that version's schema has
    it now.
    """
    value.pop("kind", None)
    version = str(value.pop("apiVersion", "")).rpartition("/")[2]
    version = version if version in types else definition.storage_version
    return version, types[version].restore(value)


class WebhookTranslation(Struct, frozen=True):
    """Converts between one version and the stored versions by webhook."""

    definition: Definition
    types: Types
    version: str
    call: CallWebhook

    @property
    def advice(self) -> str:
        client = (self.definition.conversion.get("webhook") or {}).get("clientConfig") or {}
        place = f"spec.conversion of the CustomResourceDefinition {self.definition.name}"
        return f"repair its webhook ({_address(client)}), or {place}"

    async def from_stored(self, value: Object) -> Object:
        version, obj = restored(self.definition, self.types, value)
        if version == self.version:
            return obj
        return await self.converted(obj, version, self.version)

    async def to_stored(self, obj: Object) -> Object:
        stored = self.definition.storage_version
        if self.version != stored:
            obj = self.types[stored].canonical(await self.converted(obj, self.version, stored))
        return {"kind": self.definition.accepted["kind"], "apiVersion": self._api_version(stored), **obj}

    def _api_version(self, version: str) -> str:
        return f"{self.definition.group}/{version}"

    async def converted(self, obj: Object, version: str, wanted: str) -> Object:
        """The object in another version, coerced to its schema. Raises Untranslatable."""
        return self.types[wanted].coerce(await self.answered(obj, version, wanted))

    async def answered(self, obj: Object, version: str, wanted: str) -> Object:
        """The object in another version, as the webhook returns it. Raises Untranslatable."""
        kind = self.definition.accepted["kind"]
        source = f"{self._api_version(version)}, Kind={kind}"
        sent = {"apiVersion": self._api_version(version), "kind": kind, **obj}
        if not obj["metadata"].get("resourceVersion"):
            sent["metadata"] = {name: part for name, part in obj["metadata"].items() if name != "resourceVersion"}
        converted = await self._converted_by_webhook(sent, self._api_version(wanted), source)
        _check_identity(sent, converted, self._api_version(wanted), source)
        try:
            metadata = _with_labels_of(converted.get("metadata"), obj["metadata"])
        except ValueError as exc:
            raise Untranslatable(f"conversion webhook for {source} returned invalid metadata: {exc}") from exc
        del converted["apiVersion"], converted["kind"]
        return {**converted, "metadata": metadata}

    async def _converted_by_webhook(self, obj: Object, api_version: str, source: str) -> Object:
        webhook = self.definition.conversion.get("webhook") or {}
        review_version = _spoken(webhook.get("conversionReviewVersions") or ())
        uid = str(uuid.uuid4())
        try:
            attributes: tracing.Attributes = {
                "custom-resource-definition": self.definition.name,
                "desired-api-version": api_version,
                "object-count": 1,
                "UID": uid,
            }
            with tracing.spanned("Call conversion webhook", attributes, threshold=_SLOW_SECONDS):
                answer = await self.call(
                    webhook.get("clientConfig") or {},
                    _review(review_version, uid, api_version, obj),
                    seconds=_SECONDS,
                )
            objects = _objects_of(answer, review_version, uid)
        except WebhookFailed as exc:
            late = _LATE if isinstance(exc, OutOfTime) else ""
            raise Untranslatable(f"conversion webhook for {source} failed: {exc}{late}") from exc
        if len(objects) != 1:
            raise Untranslatable(f"conversion webhook for {source} returned {len(objects)} objects, expected 1")
        converted = objects[0]
        if not isinstance(converted, dict) or not converted.get("kind"):
            raise Untranslatable(f"Object 'Kind' is missing in {quote(str(converted))}")
        return converted


def _address(client: Mapping[str, Any]) -> str:
    """The webhook of a clientConfig, for people."""
    service = client.get("service")
    if not isinstance(service, dict):
        return str(client.get("url", "without an address"))
    path = str(service.get("path") or "").lstrip("/")
    return f"service {service.get('namespace')}/{service.get('name')}:{service.get('port', 443)}/{path}".rstrip("/")


def _spoken(versions: Sequence[str]) -> str:
    """The first of the webhook's ConversionReview versions that this server supports. Raises Untranslatable."""
    for version in versions:
        if version in conversion_validation.REVIEW_VERSIONS:
            return version
    raise Untranslatable("no supported conversion review versions")


def _review(version: str, uid: str, api_version: str, obj: Object) -> Object:
    return {
        "kind": "ConversionReview",
        "apiVersion": f"{_REVIEW_GROUP}/{version}",
        "request": {"uid": uid, "desiredAPIVersion": api_version, "objects": [obj]},
        "response": {"uid": "", "convertedObjects": None, "result": {"metadata": {}}},
    }


def _objects_of(answer: Object, version: str, uid: str) -> Sequence[Any]:
    """The converted objects of a response. Raises WebhookFailed."""
    response = answer.get("response")
    if version == "v1":
        _check_answer(answer, f"{_REVIEW_GROUP}/{version}")
    if not isinstance(response, dict):
        raise WebhookFailed("no response provided")
    if version == "v1" and response.get("uid", "") != uid:
        raise WebhookFailed(f"expected response.uid={quote(uid)}, got {quote(response.get('uid', ''))}")
    result = response.get("result") or {}
    if result.get("status") != "Success":
        message = f"response.result.status was '{result.get('status', '')}', not 'Success'"
        raise WebhookFailed(result.get("message") or message)
    return response.get("convertedObjects") or ()


def _check_answer(answer: Object, api_version: str) -> None:
    given = (answer.get("apiVersion", ""), answer.get("kind", ""))
    if given != (api_version, "ConversionReview"):
        raise WebhookFailed(
            f"expected webhook response of {api_version}, Kind=ConversionReview, got {given[0]}, Kind={given[1]}"
        )


def _check_identity(sent: Object, converted: Object, api_version: str, source: str) -> None:
    """Refuse a converted object with another version, kind or identity. Raises Untranslatable."""
    head = f"conversion webhook for {source} returned invalid object"
    if converted.get("apiVersion", "") != api_version:
        received = converted.get("apiVersion", "")
        why = f"invalid groupVersion (expected {api_version}, received {received})"
        raise Untranslatable(f"{head} at index 0: {why}")
    if converted["kind"] != sent["kind"]:
        why = f"invalid kind (expected {sent['kind']}, received {converted['kind']})"
        raise Untranslatable(f"{head} at index 0: {why}")
    given = converted.get("metadata")
    metadata = given if isinstance(given, dict) else {}
    for name, shown in (("name", "name"), ("namespace", "namespace"), ("uid", "UID")):
        one, other = sent["metadata"].get(name, ""), metadata.get(name, "")
        if one != other:
            raise Untranslatable(f"{head}: must have the same {shown}: {one} != {other}")


def _with_labels_of(converted: Any, original: Object) -> Object:
    """The original metadata with the converted labels and annotations. Raises ValueError."""
    if converted is None:
        raise ValueError("missing metadata in converted object")
    if not isinstance(converted, dict):
        raise ValueError(f"invalid metadata of type {_go_type(converted)} in converted object")
    metadata = dict(original)
    for name in ("labels", "annotations"):
        given = converted.get(name)
        if given is None:
            metadata.pop(name, None)
            continue
        if not isinstance(given, dict):
            raise ValueError(f"invalid metadata.{name} of type {_go_type(given)} in converted object")
        _check_texts(name, given, original.get(name) or {})
        metadata[name] = given
    return metadata


def _check_texts(name: str, given: Object, original: Object) -> None:
    for key, value in given.items():
        if not isinstance(value, str):
            raise ValueError(f"metadata.{name}[{key}] must be a string, but is {_go_type(value)} in converted object")
    if given == original:
        return
    if name == "labels":
        wrong = object_meta.validate_labels(given, "metadata.labels")
    else:
        wrong = object_meta.validate_annotations(given, "metadata.annotation")
    if wrong:
        texts = list(dict.fromkeys(map(str, wrong)))
        raise ValueError(texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]")


def _go_type(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    names = {str: "string", int: "int64", float: "float64", list: "[]interface {}", dict: "map[string]interface {}"}
    return names.get(type(value), "<nil>")
