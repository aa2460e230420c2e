"""varying_types: the table of the kinds whose fields are not the same in all minors.

    registry/machinery/schema/varying_types.json

It follows from the definitions of all minors. A server drops from the stored objects of these kinds what its own
minor does not know; objects of other kinds need no search.
"""

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import orjson

from aio_apiserver.registry.base.timeline import Version, text_of
from aio_apiserver.registry.machinery.schema import definitions
from scripts.upstream.facts.release import Release
from scripts.upstream.tables import table
from scripts.upstream.tables.table import GENERATED, Origin

_PATH = "registry/machinery/schema/varying_types.json"
_KINDS = "x-kubernetes-group-version-kind"
_REFERENCE = re.compile(r'"#/\$defs/([\w.-]+)"')
_GROUPS = ("io.k8s.api.", "io.k8s.apiextensions-apiserver.", "io.k8s.kube-aggregator.")
_LIST = "List"


class VaryingTypes:
    """The table of the kinds whose fields vary."""

    title = "varying kinds"

    def read(self, release: Release) -> Sequence[str]:
        return []

    def paths(self, root: Path) -> Sequence[str]:
        return [_PATH]

    def parsed(self, texts: Mapping[str, str]) -> Mapping[Version, Sequence[str]]:
        rows: dict[str, Any] = orjson.loads(texts[_PATH])
        return {table.minor_of(release): rows["types"] for release in rows[GENERATED]["from"]}

    def files(self, facts: Mapping[Version, Sequence[str]], origin: Origin, paths: Sequence[str]) -> Mapping[str, str]:
        all_minors = [_Minor(text_of(minor)) for minor in facts]
        fields: dict[str, set[str]] = {}
        for minor in all_minors:
            for name, own in minor.fields.items():
                fields.setdefault(name, set()).update(own)
        varying = sorted({kind for minor in all_minors for kind in minor.kinds if minor.lacks(kind, fields)})
        lines = ",\n".join(f"  {table.compact(name)}" for name in varying)
        return {_PATH: f'{{\n "{GENERATED}": {table.compact(origin.key)},\n "types": [\n{lines}\n ]\n}}\n'}

    def rows(self, facts: Sequence[str]) -> Mapping[str, object]:
        return dict.fromkeys(facts, True)


class _Minor:
    """The fields and the references of the definitions of a minor."""

    def __init__(self, text: str) -> None:
        published = definitions.load(text)
        self.fields = {name: frozenset(published[name].get("properties", ())) for name in published}
        self.kinds = [name for name in published if name.startswith(_GROUPS) and _is_kind(name, published[name])]
        self._references = {name: frozenset(_references(text, name)) for name in published}

    def lacks(self, kind: str, fields: Mapping[str, set[str]]) -> bool:
        """Whether the kind, or a type within it, has fewer fields than all minors together."""
        visited: set[str] = set()
        waiting = [kind]
        while waiting:
            name = waiting.pop()
            if fields[name] - self.fields[name]:
                return True
            visited.add(name)
            waiting += self._references[name] - visited
        return False


@cache
def _references(minor: str, name: str) -> Sequence[str]:
    return _REFERENCE.findall(json.dumps(definitions.load(minor)[name]))


def _is_kind(name: str, schema: Mapping[str, Any]) -> bool:
    return bool(schema.get(_KINDS)) and not name.endswith(_LIST)
