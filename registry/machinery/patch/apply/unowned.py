"""Unowned: the fields of an object that no field manager owns: its type, its identity, and what the server sets.

Pure.
"""

from aio_apiserver.registry.machinery.patch.apply import fields
from aio_apiserver.registry.machinery.patch.apply.elements import Path, field
from aio_apiserver.registry.machinery.patch.apply.fields import Fields

_SYSTEM_METADATA = (
    "name",
    "namespace",
    "creationTimestamp",
    "selfLink",
    "uid",
    "clusterName",
    "generation",
    "managedFields",
    "resourceVersion",
)


def _unowned() -> Fields:
    paths: list[Path] = [(field("apiVersion"),), (field("kind"),), (field("metadata"),)]
    return fields.of_paths(paths + [(field("metadata"), field(name)) for name in _SYSTEM_METADATA])


UNOWNED = _unowned()
"""The field set."""
