"""Merging: a document of version 2 that another server has written, taken into this server's.

Pure. Must hold: what this server says stays as it is; definitions that only share their name get another one; those
that nothing refers to stay away.
"""

from collections.abc import Mapping
from typing import Any

from aio_apiserver.registry.machinery.openapi.paths import Document
from aio_apiserver.registry.machinery.openapi.swagger import ROOT


def merged(document: Document, remote: Mapping[str, Any]) -> Document:
    """This server's document with the paths of another one, and the definitions that these need."""
    present, offered = document["definitions"], remote["definitions"]
    names = _names(present, offered, _used(remote["paths"], offered))
    added = {new: _renamed(offered[old], names) for old, new in names.items()}
    paths = {path: _renamed(item, names) for path, item in remote["paths"].items()}
    definitions = {**added, **present}
    return {
        **document,
        "paths": {**paths, **document["paths"]},
        "definitions": {name: definitions[name] for name in sorted(definitions)},
    }


def _used(paths: Any, offered: Mapping[str, Any]) -> set[str]:
    """The definitions that paths refer to, and those that these refer to."""
    used: set[str] = set()
    pending = [paths]
    while pending:
        for name in _references(pending.pop()):
            if name in offered and name not in used:
                used.add(name)
                pending.append(offered[name])
    return used


def _references(part: Any) -> set[str]:
    found: set[str] = set()
    pending = [part]
    while pending:
        one = pending.pop()
        if isinstance(one, Mapping):
            target = one.get("$ref")
            if isinstance(target, str) and target.startswith(ROOT):
                found.add(target.removeprefix(ROOT))
            pending.extend(one.values())
        elif isinstance(one, list):
            pending.extend(one)
    return found


def _names(present: Mapping[str, Any], offered: Mapping[str, Any], used: set[str]) -> Mapping[str, str]:
    """What used definitions are called in the merged document."""
    names = {}
    for name in sorted(used):
        new, number = name, 1
        while new in present and present[new] != offered[name]:
            number += 1
            new = f"{name}_v{number}"
        names[name] = new
    return names


def _renamed(part: Any, names: Mapping[str, str]) -> Any:
    if isinstance(part, Mapping):
        return {
            key: _reference(value, names) if key == "$ref" else _renamed(value, names) for key, value in part.items()
        }
    return [_renamed(one, names) for one in part] if isinstance(part, list) else part


def _reference(target: Any, names: Mapping[str, str]) -> Any:
    if not isinstance(target, str):
        return _renamed(target, names)
    name = target.removeprefix(ROOT)
    return ROOT + names.get(name, name) if target.startswith(ROOT) else target
