"""Forms: custom resources as admission sees them in each version of their definition.

Must hold: each webhook sees the object as the previous one has left it, with unknown fields. Pruning comes when the
object is written.
"""

from collections.abc import Sequence

from msgspec import Struct

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.names import GroupResource, GroupVersionKind
from aio_apiserver.registry.generic.webhook_calls import CallWebhook
from aio_apiserver.registry.groups.apiextensions.conversion.conversion import Types, WebhookTranslation
from aio_apiserver.registry.groups.apiextensions.definitions.definition import Definition, Version
from aio_apiserver.registry.groups.apiextensions.serving import versioned_storage
from aio_apiserver.registry.machinery.custom_types.custom_type import CustomType


class CustomForm(Struct, frozen=True):
    """One version of objects whose hub version is `hub_version`. Without a webhook, versions differ by apiVersion
    alone.
    """

    definition: Definition
    facts: Version
    types: Types
    hub_version: str
    webhook: CallWebhook | None

    @property
    def resource(self) -> GroupResource:
        return GroupResource(self.definition.group, self.definition.accepted["plural"])

    @property
    def version(self) -> str:
        return self.facts.name

    @property
    def kind(self) -> GroupVersionKind:
        return GroupVersionKind(self.definition.group, self.version, self.definition.accepted["kind"])

    def has(self, subresource: str) -> bool:
        match subresource:
            case "status":
                return self.facts.has_status
            case "scale":
                return self.facts.scale is not None
        return not subresource

    async def versioned(self, hub: Object) -> Object:
        return self._typed(await self._converted(self._type.canonical(hub), self.hub_version, self.version))

    def parsed(self, value: Object) -> Object:
        return self._typed(self._type.convert({**value, "metadata": value.get("metadata") or {}}).obj)

    def defaulted(self, obj: Object) -> Object:
        whole = self._type.canonical(obj)
        self._type.apply_defaults(whole)
        return self._typed(whole)

    async def hub(self, obj: Object) -> Object:
        return await self._converted(self._type.canonical(_untyped(obj)), self.version, self.hub_version)

    @property
    def _type(self) -> CustomType:
        return self.types[self.version]

    async def _converted(self, obj: Object, version: str, wanted: str) -> Object:
        """The object in another version. The given object must not be used afterwards."""
        if version == wanted or self.webhook is None:
            return obj
        translation = WebhookTranslation(self.definition, self.types, wanted, self.webhook)
        return await translation.answered(obj, version, wanted)

    def _typed(self, obj: Object) -> Object:
        printed = self._type.canonical(obj)
        kind = self.kind
        return {"apiVersion": kind.api_version, "kind": kind.kind, **_untyped(printed)}


def _untyped(obj: Object) -> Object:
    return {name: part for name, part in obj.items() if name not in {"apiVersion", "kind"}}


def forms_of(definition: Definition, types: Types, hub_version: str, call: CallWebhook) -> Sequence[CustomForm]:
    """The forms for a Store with this hub version."""
    webhook = call if versioned_storage.is_by_webhook(definition) else None
    return [CustomForm(definition, version, types, hub_version, webhook) for version in definition.versions]
