"""parameters: the table of query parameters, by verb or kind of options.

    registry/machinery/openapi/parameters.json

A parameter is `[type, description]`, with the first minor that has it when older ones do not.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from aio_apiserver.registry.base.timeline import ALWAYS, Version, text_of, version_of
from scripts.upstream.facts import parameters
from scripts.upstream.facts.parameters import Parameters
from scripts.upstream.facts.release import Release
from scripts.upstream.problems import Unusable
from scripts.upstream.tables import table
from scripts.upstream.tables.table import GENERATED, Origin

_PATH = "registry/machinery/openapi/parameters.json"


class QueryParameters:
    """The table of query parameters."""

    title = "parameters"

    def read(self, release: Release) -> Parameters:
        return parameters.of_release(release)

    def paths(self, root: Path) -> Sequence[str]:
        return [_PATH]

    def parsed(self, texts: Mapping[str, str]) -> Mapping[Version, Parameters]:
        rows: dict[str, Any] = orjson.loads(texts[_PATH])
        minors = [table.minor_of(one) for one in rows.pop(GENERATED)["from"]]
        return {
            minor: {
                user: {name: (row[0], row[1]) for name, row in of_user.items() if _has(row, minor)}
                for user, of_user in rows.items()
            }
            for minor in minors
        }

    def files(self, facts: Mapping[Version, Parameters], origin: Origin, paths: Sequence[str]) -> Mapping[str, str]:
        texts = [f" {table.compact(GENERATED)}: {table.compact(origin.key)}"]
        for user in facts[max(facts)]:
            rows = _rows({minor: of_minor[user] for minor, of_minor in facts.items()})
            lines = ",\n".join(f"  {table.compact(name)}: {table.compact(row)}" for name, row in rows.items())
            texts.append(f" {table.compact(user)}: {{\n{lines}\n }}")
        return {_PATH: "{\n" + ",\n".join(texts) + "\n}\n"}

    def rows(self, facts: Parameters) -> Mapping[str, object]:
        return {f"{user} {name}": row for user, of_user in facts.items() for name, row in of_user.items()}


def _rows(of_minors: Mapping[Version, Mapping[str, tuple[str, str]]]) -> Mapping[str, list[str]]:
    """The parameters of all minors. Raises Unusable where one was described differently."""
    rows: dict[str, list[str]] = {}
    for name in sorted({name for of_minor in of_minors.values() for name in of_minor}):
        spans = list(table.spans({minor: of_minor.get(name) for minor, of_minor in of_minors.items()}))
        if len(spans) != 1 or spans[0][1] is not None:
            raise Unusable(f"the parameter {name} has changed: the table has no form for that")
        since, _, row = spans[0]
        rows[name] = [*row, *([text_of(since)] if since else [])]
    return rows


def _has(row: list[str], minor: Version) -> bool:
    return (version_of(row[2]) if len(row) > 2 else ALWAYS) <= minor
