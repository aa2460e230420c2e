"""Selectable fields: the field selectors of a custom resource, from selectableFields of its version. Pure."""

from collections.abc import Callable, Mapping
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.base.golang import text
from aio_apiserver.registry.groups.apiextensions.definitions.definition import Version


def of(version: Version) -> Mapping[str, Callable[[Object], str]]:
    """A function for each field that reads its value, by the path without its first dot."""
    paths = [one["jsonPath"].removeprefix(".") for one in version.facts.get("selectableFields") or ()]
    return {path: _reader(path) for path in paths}


def _reader(path: str) -> Callable[[Object], str]:
    return lambda obj: _text(objects.get(obj, path))


def _text(value: Any) -> str:
    return "" if value is None else text.value_text(value)
