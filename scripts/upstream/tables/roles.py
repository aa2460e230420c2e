"""roles: the table of bootstrap roles and bindings.

    registry/controlplane/bootstrap/rbac.json

A row is an object without what all of them share. One with `since` or `until` is that of some minors.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from aio_apiserver.registry.base.timeline import ALWAYS, FOREVER, Version, text_of, version_of
from scripts.upstream.facts import roles
from scripts.upstream.facts.release import Release
from scripts.upstream.facts.roles import Roles, Row
from scripts.upstream.tables import table
from scripts.upstream.tables.table import GENERATED, Origin

_PATH = "registry/controlplane/bootstrap/rbac.json"
_ORDER = ("name", "since", "until", "labels", "namespace", "aggregationRule", "rules", "subjects", "roleRef")


class BootstrapRoles:
    """The table of bootstrap roles and bindings."""

    title = "roles"

    def read(self, release: Release) -> Roles:
        return roles.of_release(release)

    def paths(self, root: Path) -> Sequence[str]:
        return [_PATH]

    def parsed(self, texts: Mapping[str, str]) -> Mapping[Version, Roles]:
        rows: dict[str, Any] = orjson.loads(texts[_PATH])
        minors = [table.minor_of(one) for one in rows.pop(GENERATED)["from"]]
        return {
            minor: {
                plural: [row for one in objects for row in _of_minor(one, minor)] for plural, objects in rows.items()
            }
            for minor in minors
        }

    def files(self, facts: Mapping[Version, Roles], origin: Origin, paths: Sequence[str]) -> Mapping[str, str]:
        texts = [f"{table.compact(GENERATED)}: {table.compact(origin.key)}"]
        for plural in facts[max(facts)]:
            rows = _rows({minor: of_minor[plural] for minor, of_minor in facts.items()})
            lines = ",\n".join(table.compact(row) for row in rows)
            texts.append(f"{table.compact(plural)}: [\n{lines}\n]")
        return {_PATH: "{\n" + ",\n".join(texts) + "\n}\n"}

    def rows(self, facts: Roles) -> Mapping[str, object]:
        return {
            f"{plural} {row.get('namespace', '')}{'/' if 'namespace' in row else ''}{row['name']}": row
            for plural, rows in facts.items()
            for row in rows
        }


def _rows(of_minors: Mapping[Version, Sequence[Row]]) -> Iterator[Row]:
    """The rows of all minors, by namespace and name, each with its lifetime."""
    by_key = {
        minor: {(row.get("namespace", ""), row["name"]): row for row in rows} for minor, rows in of_minors.items()
    }
    for key in sorted({key for rows in by_key.values() for key in rows}):
        for since, until, row in table.spans({minor: rows.get(key) for minor, rows in by_key.items()}):
            lifetime = {"since": since and text_of(since), "until": until and text_of(until)}
            whole = {**row, **{name: value for name, value in lifetime.items() if value}}
            yield {name: whole[name] for name in _ORDER if name in whole}


def _of_minor(row: Row, minor: Version) -> Iterator[Row]:
    since = version_of(row["since"]) if "since" in row else ALWAYS
    until = version_of(row["until"]) if "until" in row else FOREVER
    if since <= minor < until:
        yield {name: value for name, value in row.items() if name not in {"since", "until"}}
