"""Versioned storage: the storage facts of a custom resource, for each of its versions.

Each version has a storage on the same stored values. A value is converted to the version once, when it is decoded, so
that all later reads write bytes.

Must hold: values are stored in the storage version. Values in another version are read in that one and converted.
"""

from collections.abc import Callable, Mapping

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.generic.webhook_calls import CallWebhook
from aio_apiserver.registry.groups.apiextensions.conversion import conversion
from aio_apiserver.registry.groups.apiextensions.conversion.conversion import Types, WebhookTranslation
from aio_apiserver.registry.groups.apiextensions.definitions.definition import Definition, Version
from aio_apiserver.registry.groups.apiextensions.serving import selectable_fields
from aio_apiserver.storage.interface import Resource


def resources_of(definition: Definition, types: Types, call: CallWebhook) -> Mapping[str, Resource]:
    """The storage facts of the served versions and the storage version, by version."""
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
    """Whether a webhook converts between the versions."""
    return definition.conversion.get("strategy") == "Webhook"


def _translation(definition: Definition, types: Types, version: str, call: CallWebhook) -> WebhookTranslation | None:
    """The webhook translation of a version. It is None without a webhook, and when no other version was ever stored."""
    if not is_by_webhook(definition):
        return None
    is_pure = version == definition.storage_version and set(definition.stored_versions) <= {version}
    return None if is_pure else WebhookTranslation(definition, types, version, call)


def _restore(definition: Definition, types: Types, wanted: str) -> Callable[[Object], Object]:
    def restore(value: Object) -> Object:
        version, obj = conversion.restored(definition, types, value)
        return obj if version == wanted else types[wanted].coerce(obj)

    return restore
