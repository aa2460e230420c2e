"""gates: the table of feature gates.

    registry/base/gates.json

A row has `specs` (since which version, stage, default, locked), the gates that it `needs` by the minor since which it
needs them, and the minors of kube-apiserver that know it (`since`, `until`), where not all do. A member `1.33,1.34` has
the specs that these minors knew, where the newest knows others for the same versions.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from aio_apiserver.registry.base.timeline import ALWAYS, FOREVER, Version, text_of, version_of
from scripts.upstream.facts import gates
from scripts.upstream.facts.gates import Gate, Spec
from scripts.upstream.facts.release import Release
from scripts.upstream.tables import table
from scripts.upstream.tables.table import GENERATED, Origin

_PATH = "registry/base/gates.json"


class Gates:
    """The table of feature gates."""

    title = "feature gates"

    def read(self, release: Release) -> Mapping[str, Gate]:
        return gates.of_release(release)

    def paths(self, root: Path) -> Sequence[str]:
        return [_PATH]

    def parsed(self, texts: Mapping[str, str]) -> Mapping[Version, Mapping[str, Gate]]:
        rows: dict[str, Any] = orjson.loads(texts[_PATH])
        minors = [table.minor_of(one) for one in rows.pop(GENERATED)["from"]]
        return {
            minor: {name: _gate(row, minor, minors) for name, row in rows.items() if _is_known(row, minor)}
            for minor in minors
        }

    def files(
        self, facts: Mapping[Version, Mapping[str, Gate]], origin: Origin, paths: Sequence[str]
    ) -> Mapping[str, str]:
        names = sorted({name for rows in facts.values() for name in rows})
        rows = [f" {table.compact(GENERATED)}: {table.compact(origin.key)}"]
        for name in names:
            of_minors = {minor: rows_[name] for minor, rows_ in facts.items() if name in rows_}
            rows.append(f" {table.compact(name)}: {table.compact(_row(of_minors, facts))}")
        return {_PATH: "{\n" + ",\n".join(rows) + "\n}\n"}

    def rows(self, facts: Mapping[str, Gate]) -> Mapping[str, object]:
        return {name: (gate.specs, gate.needs) for name, gate in facts.items()}


def _row(of_minors: Mapping[Version, Gate], all_minors: Mapping[Version, object]) -> Mapping[str, object]:
    known, minors = sorted(of_minors), sorted(all_minors)
    newest = of_minors[known[-1]].specs
    row: dict[str, object] = {}
    if known[0] != minors[0]:
        row["since"] = text_of(known[0])
    if known[-1] != minors[-1]:
        row["until"] = text_of(minors[minors.index(known[-1]) + 1])
    row["specs"] = newest
    needs = table.spans({minor: gate.needs for minor, gate in of_minors.items()})
    by_minor = {text_of(since or known[0]): names for since, _, names in needs}
    if any(by_minor.values()):
        row["needs"] = {since: names for since, names in by_minor.items() if names or since != text_of(known[0])}
    others = {minor: gate.specs for minor, gate in of_minors.items() if gate.specs != _specs_at(newest, minor, known)}
    return row | dict(table.variants({**others, FOREVER: newest})[1])


def _specs_at(specs: Sequence[Spec], minor: Version, known: Sequence[Version]) -> Sequence[Spec]:
    """The specs of the newest minor that an older one knows, too."""
    return specs if minor == known[-1] else tuple(spec for spec in specs if version_of(spec[0]) <= minor)


def _is_known(row: Mapping[str, Any], minor: Version) -> bool:
    since = version_of(row["since"]) if "since" in row else ALWAYS
    until = version_of(row["until"]) if "until" in row else FOREVER
    return since <= minor < until


def _gate(row: Mapping[str, Any], minor: Version, minors: Sequence[Version]) -> Gate:
    own = [specs for key, specs in row.items() if key[0].isdigit() and minor in table.minors_of(key)]
    known = [one for one in minors if _is_known(row, one)]
    specs = tuple(tuple(spec) for spec in (own or [row["specs"]])[0])
    needs = [names for since, names in row.get("needs", {}).items() if version_of(since) <= minor]
    return Gate(specs if own else _specs_at(specs, minor, known), tuple(needs[-1]) if needs else ())
