"""stored_names: the resources that a word names, as for kubectl: a plural, a singular, a kind or a short name.

A group may follow, as in deployments.apps.
Built-in resources have their names from their kinds, custom resources from the definitions in the same store. Pure.
"""

from collections.abc import Iterator, Sequence, Set
from typing import Any

from aio_apiserver.apiserver.commands.checks import stored_schemas, stored_values
from aio_apiserver.apiserver.commands.checks.stored_values import StoredValue
from aio_apiserver.registry.base.names import GroupResource


def resources_of(word: str, stored: Sequence[StoredValue]) -> Set[GroupResource]:
    """The resources with this name. Raises ValueError when there are none."""
    wanted = word.lower()
    found = {resource for name, resource in _names(stored) if name and wanted in (name, f"{name}.{resource.group}")}
    if not found:
        raise ValueError(f"there is no resource named {word!r}: inspect without a name shows all")
    return found


def _names(stored: Sequence[StoredValue]) -> Iterator[tuple[str, GroupResource]]:
    for kind in stored_values.kinds():
        for name in (kind.resource.resource, kind.singular, kind.kind.lower(), *kind.short_names):
            yield name, kind.resource
    for value in stored:
        yield value.resource.resource, value.resource
        if value.resource.resource == stored_schemas.DEFINITIONS and not value.problem:
            yield from _names_in(value.content)


def _names_in(definition: Any) -> Iterator[tuple[str, GroupResource]]:
    spec = definition.get("spec", {})
    names = spec.get("names", {})
    resource = GroupResource(spec.get("group", ""), names.get("plural", ""))
    for name in (resource.resource, names.get("singular", ""), names.get("kind", ""), *names.get("shortNames", ())):
        yield name.lower(), resource
