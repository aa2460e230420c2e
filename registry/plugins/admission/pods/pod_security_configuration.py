"""Pod security configuration: reads PodSecurityConfiguration: default policy and exemptions.

apiVersion: pod-security.admission.config.k8s.io/v1
kind: PodSecurityConfiguration
defaults: {enforce: baseline, enforce-version: latest}
exemptions: {usernames: [], runtimeClasses: [], namespaces: [kube-system]}
"""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

from aio_apiserver.registry.plugins.podsecurity.policies import NamespacePolicy, configured

_GROUP = "pod-security.admission.config.k8s.io"
_VERSIONS = frozenset(f"{_GROUP}/{version}" for version in ("v1", "v1beta1", "v1alpha1"))
_FIELDS = frozenset({"apiVersion", "kind", "defaults", "exemptions"})
_DEFAULTS = frozenset({"enforce", "enforce-version", "audit", "audit-version", "warn", "warn-version"})
_EXEMPTIONS = frozenset({"usernames", "runtimeClasses", "namespaces"})


class Configuration(Struct, frozen=True):
    """A PodSecurityConfiguration. Each of the three sets exempts a request."""

    defaults: NamespacePolicy = field(default_factory=NamespacePolicy)
    usernames: frozenset[str] = frozenset()
    runtime_classes: frozenset[str] = frozenset()
    namespaces: frozenset[str] = frozenset()


def read(given: Any) -> Configuration:
    """The configuration in a document, or the defaults without one. Raises ValueError."""
    if given is None:
        return Configuration()
    if not isinstance(given, dict) or given.get("apiVersion") not in _VERSIONS:
        raise ValueError(f"configuration of PodSecurity: must be a PodSecurityConfiguration of {_GROUP}/v1")
    _check(given, _FIELDS)
    exemptions = given.get("exemptions") or {}
    _check(exemptions, _EXEMPTIONS)
    defaults = given.get("defaults") or {}
    _check(defaults, _DEFAULTS)
    return Configuration(
        configured({name: str(value) for name, value in defaults.items()}),
        usernames=_words(exemptions, "usernames"),
        runtime_classes=_words(exemptions, "runtimeClasses"),
        namespaces=_words(exemptions, "namespaces"),
    )


def _check(given: Any, known: frozenset[str]) -> None:
    if not isinstance(given, dict) or not given.keys() <= known:
        raise ValueError(f"configuration of PodSecurity: fields can be {', '.join(sorted(known))}")


def _words(exemptions: Mapping[str, Any], name: str) -> frozenset[str]:
    words = exemptions.get(name) or []
    if not isinstance(words, list) or not all(word and isinstance(word, str) for word in words):
        raise ValueError(f"configuration of PodSecurity: exemptions.{name} must be a list of names")
    return frozenset(words)
