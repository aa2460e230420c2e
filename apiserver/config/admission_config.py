"""Admission config: reads the file of --admission-control-config-file: a configuration for each admission plugin.

    apiVersion: apiserver.config.k8s.io/v1
    kind: AdmissionConfiguration
    plugins:
    - name: PodSecurity
      configuration: {...}  # or `path: a file of its own`, relative to this one

The plugin checks the content of its configuration. Must hold: an unknown field or plugin in the file is an error.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.controlplane import admission_plugins
from aio_apiserver.storage.encryption import strict_yaml

_VERSIONS = ("apiserver.config.k8s.io/v1", "apiserver.config.k8s.io/v1alpha1", "apiserver.k8s.io/v1alpha1")
_KIND = "AdmissionConfiguration"
_FIELDS = frozenset({"apiVersion", "kind", "plugins"})
_PLUGIN_FIELDS = frozenset({"name", "path", "configuration"})


def load(path: Path | None) -> Mapping[str, Any]:
    """The configurations by the name of their plugin. Raises ValueError, OSError."""
    if path is None:
        return {}
    document = strict_yaml.load(path.read_bytes())
    if not isinstance(document, dict) or document.get("kind") != _KIND or document.get("apiVersion") not in _VERSIONS:
        raise ValueError(f"{path}: must be an {_KIND} of {_VERSIONS[0]}")
    _check_fields(path, document, _FIELDS)
    configurations: dict[str, Any] = {}
    for entry in document.get("plugins") or ():
        name, configuration = _plugin(path, entry)
        if name in configurations:
            raise ValueError(f"{path}: plugin {quote(name)} is configured twice")
        configurations[name] = configuration
    return configurations


def _plugin(path: Path, entry: Any) -> tuple[str, Any]:
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
        raise ValueError(f"{path}: each of plugins must be a map with a name")
    _check_fields(path, entry, _PLUGIN_FIELDS)
    name = entry["name"]
    if name not in admission_plugins.NAMES:
        raise ValueError(f"{path}: there is no admission plugin {quote(name)}")
    if "configuration" in entry:
        return name, entry["configuration"]
    place = entry.get("path") or ""
    return name, strict_yaml.load((path.parent / place).read_bytes()) if place else None


def _check_fields(path: Path, given: Mapping[str, Any], known: frozenset[str]) -> None:
    if unknown := sorted(str(name) for name in given if name not in known):
        raise ValueError(f"{path}: unknown field {quote(unknown[0])}")
