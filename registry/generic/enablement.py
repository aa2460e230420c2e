"""Enablement: the versions and resources of the built-in groups that are served (--runtime-config).

    api/all=false            all versions        apps/v1=false                         one version
    api/beta=true            all v1beta1 ...     networking.k8s.io/v1beta1/ipaddresses one resource

Pure. A more specific entry overrides a less specific one. Must hold: without entries everything is served but alpha and
beta versions. Errors have kube-apiserver's messages.
"""

import re
from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct

from aio_apiserver.registry.base.golang.text import parse_bool

_ALL = "api/all"
_PATTERNS: Mapping[str, str] = {
    _ALL: "",
    "api/ga": r"v\d+$",
    "api/beta": r"v\d+beta\d+$",
    "api/alpha": r"v\d+alpha\d+$",
}
_STABLE = re.compile(_PATTERNS["api/ga"])
_WORDS = {"true": True, "false": False}
_VERSION_PARTS, _RESOURCE_PARTS = 2, 3


class Enablement(Struct, frozen=True):
    """The entries for stability levels, for versions, and for resources."""

    patterns: Mapping[str, bool] = {}
    versions: Mapping[tuple[str, str], bool] = {}
    resources: Mapping[tuple[str, str, str], bool] = {}

    def has(self, group: str, version: str, plural: str) -> bool:
        """Whether a resource is served in a version."""
        configured = self.resources.get((group, version, plural), self.versions.get((group, version)))
        if configured is not None:
            return configured
        enabled = is_stable(version)
        for name, pattern in _PATTERNS.items():
            if name in self.patterns and re.match(pattern, version):
                enabled = self.patterns[name]
        return enabled

    def has_version(self, group: str, version: str) -> bool:
        """Whether the entries enable any resource of a version."""
        named = (is_on for (its, one, _), is_on in self.resources.items() if (its, one) == (group, version))
        return self.has(group, version, "") or any(named)

    def unserved(self, known: Collection[tuple[str, str]]) -> Sequence[str]:
        """The enabled versions that are neither stable nor among the known ones, by group and version."""
        named = [*(one for one, is_on in self.versions.items() if is_on)]
        named += [(group, version) for (group, version, _), is_on in self.resources.items() if is_on]
        return sorted({"/".join(one) for one in named if not is_stable(one[1]) and one not in known})


def is_stable(version: str) -> bool:
    """Whether a version is served by default."""
    return bool(_STABLE.match(version))


def parse(given: Mapping[str, str], known: Collection[tuple[str, str]]) -> Enablement:
    """The enablement from a flag's entries, for these known versions. Raises ValueError."""
    if given == {_ALL: "false"}:
        raise ValueError(f"invalid runtime-config with only {_ALL}=false")
    keys = {key: _group_version(key) for key in given if key not in _PATTERNS}
    groups = {group for group, _ in known}
    if unknown := sorted({_text(one) for one in keys.values() if one[0] not in groups}):
        raise ValueError(f"unknown api groups {','.join(unknown)}")
    patterns = {key: _word(key, given[key]) for key in _PATTERNS if key in given}
    versions: dict[tuple[str, str], bool] = {}
    resources: dict[tuple[str, str, str], bool] = {}
    for key, version in keys.items():
        if version not in known:
            raise ValueError(f"group version {_text(version)} that has not been registered")
        is_on = _truth(key, given[key])
        if key.count("/") < _VERSION_PARTS:
            versions[version] = is_on
        else:
            resources[(*version, _resource(key))] = is_on
    return Enablement(patterns, versions, resources)


def _group_version(key: str) -> tuple[str, str]:
    parts = key.split("/")
    if not _VERSION_PARTS <= len(parts) <= _RESOURCE_PARTS:
        raise ValueError(f"runtime-config invalid key {key}")
    return parts[0], parts[1]


def _text(version: tuple[str, str]) -> str:
    return "/".join(filter(None, version))


def _resource(key: str) -> str:
    name = key.rsplit("/", 1)[1]
    if name != name.lower():
        why = f'group/version/resource and resource is always lowercase plural, not "{name}"'
        raise ValueError(f"invalid key {key}: {why}")
    return name


def _word(key: str, text: str) -> bool:
    if text not in _WORDS:
        raise ValueError(f"invalid value {key}={text}")
    return _WORDS[text]


def _truth(key: str, text: str) -> bool:
    try:
        return parse_bool(text) if text else True
    except ValueError as exc:
        raise ValueError(f"invalid value of {key}: {text}, err: {exc}") from exc
