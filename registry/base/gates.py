"""Gates: the feature gates of a Kubernetes version, and which of them are enabled.

gates.json is the table, and is generated (scripts/upstream/tables/gates.py). For each gate it has the versions in
which the gate became alpha, beta, GA or deprecated, with its default, and whether it is locked. It has the gates that
the gate needs, too. `since` and `until` are the minors whose kube-apiserver knows the gate at all. The table is read at
the first question about a gate.

Must hold: error messages have kube-apiserver's words. The setting of a single gate wins over AllAlpha and AllBeta.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from aio_apiserver.registry.base import timeline
from aio_apiserver.registry.base.golang.text import parse_bool
from aio_apiserver.registry.base.timeline import DEFAULT, Lifetime, Version

_PREALPHA, _ALPHA, _BETA, _GA, _DEPRECATED = "PreAlpha", "Alpha", "Beta", "GA", "Deprecated"
_ALL_OF = {"AllAlpha": _ALPHA, "AllBeta": _BETA}
_SHOWN = {_PREALPHA: "PRE-ALPHA", _ALPHA: "ALPHA", _BETA: "BETA", _GA: "", _DEPRECATED: "DEPRECATED"}


class FeatureGate(NamedTuple):
    """The state of one gate in one version. `is_open` means enabled."""

    stage: str
    is_open: bool
    is_locked: bool


class ListedGate(NamedTuple):
    """One gate for metrics: its name, its stage in the words of metrics, and whether it is enabled."""

    name: str
    stage: str
    is_open: bool


class Gates:
    """The feature gates as configured. Raises ValueError for settings that kube-apiserver refuses.

    version: the version whose defaults count. binary: the version of the server, when it emulates an older one.
    """

    def __init__(self, given: Mapping[str, bool], version: Version = DEFAULT, binary: Version = DEFAULT) -> None:
        self._given = given
        self._version = version
        self._binary = binary
        self._chosen = _settled(given, version, binary) if given else {}

    def is_open(self, name: str) -> bool:
        """Whether a known gate is enabled."""
        return self._chosen.get(name, self._gate(name).is_open)

    def is_known(self, name: str) -> bool:
        """Whether the server's own version knows a gate."""
        return name in _known_to(self._binary)

    @property
    def changed(self) -> Sequence[str]:
        """The gates that the settings change, also by AllAlpha and AllBeta."""
        return sorted(
            name for name in self._chosen if name not in _ALL_OF and self.is_open(name) != self._gate(name).is_open
        )

    def all(self) -> Iterator[ListedGate]:
        """Every gate of this version."""
        for name, stage in _ALL_OF.items():
            yield ListedGate(name, _SHOWN[stage], self._chosen.get(name, False))
        for name in _known_to(self._binary):
            gate = self._gate(name)
            if gate.stage != _PREALPHA:
                yield ListedGate(name, _SHOWN[gate.stage], self.is_open(name))

    def _gate(self, name: str) -> FeatureGate:
        return _gate(name, self._version, self._binary)


def parse(texts: Sequence[str]) -> Mapping[str, bool]:
    """Read the values of --feature-gates: `Foo=true` or `kube:Foo=true`. Raises ValueError."""
    given: dict[str, bool] = {}
    prefixes = {text.rpartition(":")[0] for text in texts}
    if {"", "kube"} <= prefixes:
        raise ValueError(
            "set kube feature gates with default empty prefix or kube: prefix consistently, do not mix use"
        )
    for prefix in sorted(prefixes - {"", "kube"}):
        raise ValueError(f"component not registered: {prefix}")
    for text in texts:
        name, has_value, value = text.rpartition(":")[2].partition("=")
        name, value = name.strip(), value.strip()
        if not has_value:
            raise ValueError(f"missing bool value for {name}")
        try:
            given[name] = parse_bool(value)
        except ValueError as exc:
            raise ValueError(f"invalid value of {name}={value}, err: {exc}") from exc
    return given


def _settled(given: Mapping[str, bool], version: Version, binary: Version) -> Mapping[str, bool]:
    known = {name: _gate(name, version, binary) for name in _known_to(binary)}
    for name in given:
        if name not in known and name not in _ALL_OF:
            raise ValueError(f"unrecognized feature gate: {name}")
    single = {name: wanted for name, wanted in given.items() if name not in _ALL_OF}
    problems = [text for name, wanted in single.items() if (text := _problem(name, known[name], wanted, version))]
    chosen = {**_of_stages(given, known), **given}
    if not problems:
        problems = list(_unmet(chosen, known, binary))
    if problems:
        raise ValueError(problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]")
    return chosen


def _problem(name: str, gate: FeatureGate, wanted: bool, version: Version) -> str:
    """Why a gate cannot be set; empty when it can."""
    shown = "true" if wanted else "false"
    if gate.is_locked and gate.is_open is not wanted:
        return f"cannot set feature gate {name} to {shown}, feature is locked to {'true' if gate.is_open else 'false'}"
    if gate.stage == _PREALPHA:
        emulated, compatible = (f"{version[0]}.{minor}" for minor in (version[1], version[1] - 1))
        where = f"emulated version {emulated}, min compatibility version {compatible}"
        return f"cannot set feature gate {name} to {shown}, feature is PreAlpha at {where}"
    return ""


def _of_stages(given: Mapping[str, bool], known: Mapping[str, FeatureGate]) -> Mapping[str, bool]:
    """The settings that AllAlpha and AllBeta make for single gates."""
    wanted = {stage: given[name] for name, stage in _ALL_OF.items() if name in given}
    return {name: wanted[gate.stage] for name, gate in known.items() if gate.stage in wanted}


def _unmet(chosen: Mapping[str, bool], known: Mapping[str, FeatureGate], binary: Version) -> Iterator[str]:
    """An error for each enabled gate that depends on a disabled gate."""
    is_open = {name: chosen.get(name, gate.is_open) for name, gate in known.items()}
    for name in known:
        closed = [need for need in _needs(name, binary) if not is_open.get(need, True)]
        if closed and is_open[name]:
            yield f"{name} is enabled, but depends on features that are disabled: [{' '.join(closed)}]"


def _gate(name: str, version: Version, binary: Version) -> FeatureGate:
    """A gate in a version, as the server of a minor knows it."""
    state = FeatureGate(_PREALPHA, is_open=False, is_locked=False)
    for since, stage, is_open, is_locked in _specs(_table()[name], timeline.text_of(binary)):
        if timeline.version_of(since) <= version:
            state = FeatureGate(stage, is_open, is_locked)
    return state


def _specs(row: Mapping[str, Any], minor: str) -> Sequence[tuple[str, str, bool, bool]]:
    """What a minor knows of a gate's history; a member such as `1.33,1.34` is that of these minors alone."""
    own: Sequence[tuple[str, str, bool, bool]] = next(
        (specs for key, specs in row.items() if minor in key.split(",")), row["specs"]
    )
    return own


def _needs(name: str, binary: Version) -> Sequence[str]:
    """The gates without which a gate cannot be enabled: those of the last minor that changed them."""
    needs: Mapping[str, Sequence[str]] = _table()[name].get("needs", {})
    since = max((minor for minor in map(timeline.version_of, needs) if minor <= binary), default=None)
    return () if since is None else needs[timeline.text_of(since)]


@cache
def _known_to(binary: Version) -> Collection[str]:
    """The gates that the kube-apiserver of a minor knows."""
    lifetimes = {name: Lifetime(**_ends(row)) for name, row in _table().items()}
    return dict.fromkeys(name for name, lifetime in lifetimes.items() if lifetime.has(binary))


def _ends(row: Mapping[str, Any]) -> Mapping[str, Version]:
    return {name: timeline.version_of(row[name]) for name in ("since", "until") if name in row}


@cache
def _table() -> Mapping[str, Any]:
    table: dict[str, Any] = orjson.loads((Path(__file__).parent / "gates.json").read_bytes())
    del table["_generated"]
    return table
