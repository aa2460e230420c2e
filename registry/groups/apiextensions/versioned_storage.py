"""What storage has to know of a custom resource, for each of its versions.

Each version has a storage of its own on the same stored values, which are read as that version has them: once, when
they are decoded, so that reads of any version write bytes. Must hold: values are kept in the storage version; those
that were stored as another version are read as what they were, and converted.
"""

from collections.abc import Callable, Mapping

from aio_apiserver.registry.generic.webhook_calls import CallWebhook
from aio_apiserver.registry.groups.apiextensions import conversion, selectable_fields
from aio_apiserver.registry.groups.apiextensions.conversion import Types, WebhookTranslation
from aio_apiserver.registry.groups.apiextensions.definition import Definition, Version
from aio_apiserver.storage.interface import Resource
from aio_apiserver.storage.stored_object import Object


def resources_of(definition: Definition, types: Types, call: CallWebhook) -> Mapping[str, Resource]:
    """By version: those that are served, and the one that is stored."""
    return {
        version.name: _resource(definition, version, types, call)
        for version in definition.versions
        if version.is_served or version.name == definition.storage_version
    }


def _resource(definition: Definition, version: Version, types: Types, call: CallWebhook) -> Resource:
    stored, kind = definition.storage_version, definition.accepted["kind"]
    fields = selectable_fields.of(version)

    def selected(obj: Object) -> Mapping[str, str]:
        return {name: value_of(obj) for name, value_of in fields.items()}

    return Resource(
        group=definition.group,
        resource=definition.accepted["plural"],
        namespaced=definition.is_namespaced,
        type_meta={"kind": kind, "apiVersion": f"{definition.group}/{stored}"},
        fields=selected,
        restore=_restore(definition, types, version.name),
        reduced=None if version.name == stored or is_by_webhook(definition) else types[stored].coerce,
        view=version.name,
        place=f"{definition.group}/{definition.accepted['plural']}",
        translation=_translation(definition, types, version.name, call),
    )


def is_by_webhook(definition: Definition) -> bool:
    """Whether somebody else converts."""
    return definition.conversion.get("strategy") == "Webhook"


def _translation(definition: Definition, types: Types, version: str, call: CallWebhook) -> WebhookTranslation | None:
    """What a version needs of a webhook: nothing, as long as nothing else than it has ever been stored."""
    if not is_by_webhook(definition):
        return None
    is_pure = version == definition.storage_version and set(definition.stored_versions) <= {version}
    return None if is_pure else WebhookTranslation(definition, types, version, call)


def _restore(definition: Definition, types: Types, wanted: str) -> Callable[[Object], Object]:
    def restore(value: Object) -> Object:
        version, obj = conversion.restored(definition, types, value)
        return obj if version == wanted else types[wanted].coerce(obj)

    return restore
