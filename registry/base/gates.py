"""Gates: the feature gates of a Kubernetes version, and which of them are enabled.

gates.json is the table: for each gate, the versions in which it became alpha, beta, GA or deprecated, its default, and
whether it is locked. `since` and `until` are the minors whose kube-apiserver knows the gate at all. The table is read
at the first question about a gate.

Must hold: error messages have kube-apiserver's words. The setting of a single gate wins over AllAlpha and AllBeta.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from aio_apiserver.registry.base import timeline
from aio_apiserver.registry.base.golang.text import parse_bool
from aio_apiserver.registry.base.timeline import DEFAULT, Version

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
        return self._chosen.get(name, _gate(name, self._version).is_open)

    def is_known(self, name: str) -> bool:
        """Whether the server's own version knows a gate."""
        return name in _known_to(self._binary)

    @property
    def changed(self) -> Sequence[str]:
        """The gates that the settings change, also by AllAlpha and AllBeta."""
        return sorted(
            name
            for name in self._chosen
            if name not in _ALL_OF and self.is_open(name) != _gate(name, self._version).is_open
        )

    def all(self) -> Iterator[ListedGate]:
        """Every gate of this version."""
        for name, stage in _ALL_OF.items():
            yield ListedGate(name, _SHOWN[stage], self._chosen.get(name, False))
        for name in _known_to(self._binary):
            gate = _gate(name, self._version)
            if gate.stage != _PREALPHA:
                yield ListedGate(name, _SHOWN[gate.stage], self.is_open(name))


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
    problems: list[str] = []
    known = _known_to(binary)
    for name in given:
        if name not in known and name not in _ALL_OF:
            raise ValueError(f"unrecognized feature gate: {name}")
    for name, wanted in given.items():
        if name not in _ALL_OF and (problem := _problem(name, wanted, version)):
            problems.append(problem)
    chosen = {**_of_stages(given, version, known), **given}
    if not problems:
        problems = list(_unmet(chosen, version, known))
    if problems:
        raise ValueError(problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]")
    return chosen


def _problem(name: str, wanted: bool, version: Version) -> str:
    gate, shown = _gate(name, version), "true" if wanted else "false"
    if gate.is_locked and gate.is_open is not wanted:
        return f"cannot set feature gate {name} to {shown}, feature is locked to {'true' if gate.is_open else 'false'}"
    if gate.stage == _PREALPHA:
        emulated, compatible = (f"{version[0]}.{minor}" for minor in (version[1], version[1] - 1))
        where = f"emulated version {emulated}, min compatibility version {compatible}"
        return f"cannot set feature gate {name} to {shown}, feature is PreAlpha at {where}"
    return ""


def _of_stages(given: Mapping[str, bool], version: Version, known: Collection[str]) -> Mapping[str, bool]:
    """The settings that AllAlpha and AllBeta make for single gates."""
    wanted = {stage: given[name] for name, stage in _ALL_OF.items() if name in given}
    return {name: wanted[stage] for name in known if (stage := _gate(name, version).stage) in wanted}


def _unmet(chosen: Mapping[str, bool], version: Version, known: Collection[str]) -> Iterator[str]:
    """An error for each enabled gate that depends on a disabled gate."""

    def is_open(name: str) -> bool:
        return chosen.get(name, _gate(name, version).is_open)

    for name in known:
        closed = [one for one in _table()[name].get("needs", ()) if one in known and not is_open(one)]
        if closed and is_open(name):
            yield f"{name} is enabled, but depends on features that are disabled: [{' '.join(closed)}]"


def _gate(name: str, version: Version) -> FeatureGate:
    found = FeatureGate(_PREALPHA, is_open=False, is_locked=False)
    for since, stage, is_open, is_locked in _table()[name]["specs"]:
        if timeline.version_of(since) <= version:
            found = FeatureGate(stage, is_open, is_locked)
    return found


@cache
def _known_to(binary: Version) -> Collection[str]:
    """The gates that the kube-apiserver of a minor knows."""
    found = []
    for name, entry in _table().items():
        since = entry.get("since", entry["specs"][0][0])
        until = timeline.version_of(entry["until"]) if "until" in entry else timeline.FOREVER
        if timeline.version_of(since) <= binary < until:
            found.append(name)
    return dict.fromkeys(found)


@cache
def _table() -> Mapping[str, Any]:
    table: Mapping[str, Any] = orjson.loads((Path(__file__).parent / "gates.json").read_bytes())
    return table
