"""custom_resources: the resource that a definition of another cluster adds.

Pure. Must hold: its place in the store is that of no built-in resource, and contains none.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from aio_apiserver.apiserver.commands.cloned_objects import ClonedResource
from aio_apiserver.registry.base.validation import names

_SCOPES = {"Namespaced": True, "Cluster": False}


class NoDefinition(ValueError):
    """The object defines no custom resource that could be stored."""


def of(definition: Mapping[str, Any], built_in: Iterable[ClonedResource]) -> ClonedResource:
    """The resource, in the version in which it is stored. Raises NoDefinition."""
    name = definition["metadata"]["name"]
    try:
        spec = definition["spec"]
        group, plural, kind = spec["group"], spec["names"]["plural"], spec["names"]["kind"]
        version = next(version["name"] for version in spec["versions"] if version.get("storage"))
        is_namespaced = _SCOPES[spec["scope"]]
    except (AttributeError, KeyError, StopIteration, TypeError) as exc:
        raise NoDefinition(f"{name} defines no custom resource") from exc
    if not all(isinstance(text, str) for text in (group, plural, kind, version)) or not kind.isidentifier():
        raise NoDefinition(f"{name} defines no custom resource")
    wrong = names.is_dns_subdomain(group, False) or names.is_dns1035_label(plural, False)
    if wrong or names.is_dns1035_label(version, False) or "." not in group or name != f"{plural}.{group}":
        raise NoDefinition(f"{name} is no name of a custom resource")
    place = f"{group}/{plural}"
    if any(f"{other.place}/".startswith(f"{place}/") or other.name == name for other in built_in):
        raise NoDefinition(f"{name} is the name of a built-in resource")
    return ClonedResource(group, plural, kind, version, place, is_namespaced, is_custom=True)
