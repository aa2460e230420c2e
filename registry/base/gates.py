"""Gates: the feature gates of a Kubernetes version, and which of them are enabled.

gates.json is the table: for each gate, the versions in which it became alpha, beta, GA or deprecated, its default, and
whether it is locked. It is read at the first question about a gate.

Must hold: error messages have kube-apiserver's words. The setting of a single gate wins over AllAlpha and AllBeta.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from aio_apiserver.registry.base.golang.text import parse_bool

NEWEST = (1, 36)
OLDEST = (1, 33)
"""The newest and oldest versions that --emulated-version accepts."""

_PREALPHA, _ALPHA, _BETA, _GA, _DEPRECATED = "PreAlpha", "Alpha", "Beta", "GA", "Deprecated"
_ALL_OF = {"AllAlpha": _ALPHA, "AllBeta": _BETA}
_SHOWN = {_PREALPHA: "PRE-ALPHA", _ALPHA: "ALPHA", _BETA: "BETA", _GA: "", _DEPRECATED: "DEPRECATED"}
USED = frozenset({"RemoteRequestHeaderUID", "SizeBasedListCostEstimate"})
"""The gates that change the behaviour of this server."""

Version = tuple[int, int]


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
    """The feature gates as configured. Raises ValueError for settings that kube-apiserver refuses."""

    def __init__(self, given: Mapping[str, bool], version: Version = NEWEST) -> None:
        self._given = given
        self._version = version
        self._chosen = _settled(given, version) if given else {}

    def is_open(self, name: str) -> bool:
        """Whether a known gate is enabled."""
        return self._chosen.get(name, _gate(name, self._version).is_open)

    @property
    def idle(self) -> Sequence[str]:
        """The gates that the settings change without an effect in this server."""
        moved = (name for name in self._given if name not in _ALL_OF)
        return sorted(
            name for name in moved if name not in USED and self._given[name] != _gate(name, self._version).is_open
        )

    def all(self) -> Iterator[ListedGate]:
        """Every gate of this version."""
        for name, stage in _ALL_OF.items():
            yield ListedGate(name, _SHOWN[stage], self._chosen.get(name, False))
        for name in _table():
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


def _settled(given: Mapping[str, bool], version: Version) -> Mapping[str, bool]:
    problems: list[str] = []
    for name in given:
        if name not in _table() and name not in _ALL_OF:
            raise ValueError(f"unrecognized feature gate: {name}")
    for name, wanted in given.items():
        if name not in _ALL_OF and (problem := _problem(name, wanted, version)):
            problems.append(problem)
    chosen = {**_of_stages(given, version), **given}
    if not problems:
        problems = list(_unmet(chosen, version))
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


def _of_stages(given: Mapping[str, bool], version: Version) -> Mapping[str, bool]:
    """The settings that AllAlpha and AllBeta make for single gates."""
    wanted = {stage: given[name] for name, stage in _ALL_OF.items() if name in given}
    return {name: wanted[stage] for name in _table() if (stage := _gate(name, version).stage) in wanted}


def _unmet(chosen: Mapping[str, bool], version: Version) -> Iterator[str]:
    """An error for each enabled gate that depends on a disabled gate."""

    def is_open(name: str) -> bool:
        return chosen.get(name, _gate(name, version).is_open)

    for name, entry in _table().items():
        closed = [one for one in entry.get("needs", ()) if not is_open(one)]
        if closed and is_open(name):
            yield f"{name} is enabled, but depends on features that are disabled: [{' '.join(closed)}]"


def _gate(name: str, version: Version) -> FeatureGate:
    found = FeatureGate(_PREALPHA, is_open=False, is_locked=False)
    for since, stage, is_open, is_locked in _table()[name]["specs"]:
        major, minor = since.split(".")
        if (int(major), int(minor)) <= version:
            found = FeatureGate(stage, is_open, is_locked)
    return found


@cache
def _table() -> Mapping[str, Any]:
    table: Mapping[str, Any] = orjson.loads((Path(__file__).parent / "gates.json").read_bytes())
    return table
