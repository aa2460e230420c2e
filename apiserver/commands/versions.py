"""Versions: `apiserver versions`, the minors of Kubernetes that the server can be, and what each one changes.

It reads the facts from which a server is assembled, and the OpenAPI definitions of the minors. Nothing is started.
"""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from aio_apiserver.apiserver.config.flag_grammar import UsageError
from aio_apiserver.registry.base import minors
from aio_apiserver.registry.base.minors import Minor
from aio_apiserver.registry.controlplane.admission_plugins import names_at
from aio_apiserver.registry.controlplane.providers import providers_of
from aio_apiserver.registry.generic import enablement
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.store.provider import KindsProvider
from aio_apiserver.registry.machinery import schema

_USAGE = """\
Lists the minors of Kubernetes that the server can be (--kubernetes-version), and what is new, deprecated and removed in
each.

Usage:
  apiserver versions [MINOR ...]
"""
_WIDTH = 116


class MinorFacts(Struct, frozen=True):
    """What one minor has: resources by `plural.group/version`, fields, open gates, deprecated resources, plugins."""

    resources: frozenset[str]
    optional: frozenset[str]
    deprecated: frozenset[str]
    fields: frozenset[str]
    open_gates: frozenset[str]
    gates: frozenset[str]
    plugins: frozenset[str]


def run(arguments: Sequence[str]) -> int:
    """Print the list. Returns the exit code. Raises UsageError."""
    if {"-h", "--help"} & set(arguments):
        sys.stdout.write(_USAGE)
        return 0
    for name in arguments:
        if name.removeprefix("v") not in minors.KNOWN:
            raise UsageError(f"versions: unknown minor {name}; the minors are {', '.join(minors.KNOWN)}")
    sys.stdout.write("".join(_listed({name.removeprefix("v") for name in arguments} or set(minors.KNOWN))))
    return 0


def facts_of(minor: Minor) -> MinorFacts:
    """What a minor has."""
    gates = {gate.name: gate.is_open for gate in minor.gates.all()}
    kinds = [kind for one in providers_of(minor) if isinstance(one, KindsProvider) for kind in one.kinds]
    names = {name: version for kind in kinds for name, version in _versions_of(kind)}
    return MinorFacts(
        resources=frozenset(name for name, version in names.items() if enablement.is_stable(version)),
        optional=frozenset(name for name, version in names.items() if not enablement.is_stable(version)),
        deprecated=frozenset(kind.plural for kind in kinds if kind.deprecation),
        fields=frozenset(_fields_of(minor, {(kind.group, version) for kind in kinds for version in kind.versions})),
        open_gates=frozenset(name for name, is_open in gates.items() if is_open),
        gates=frozenset(gates),
        plugins=frozenset(names_at(minor.version)),
    )


def _versions_of(kind: Kind) -> Iterator[tuple[str, str]]:
    """Each version of a kind with its full name: `deployments.apps/v1`."""
    resource = f"{kind.plural}.{kind.group}" if kind.group else kind.plural
    for version in (*kind.versions, *kind.beta_versions):
        yield f"{resource}/{version}", version


def _fields_of(minor: Minor, versions: Iterable[tuple[str, str]]) -> Iterator[str]:
    """The fields of the types of group versions, as `apps/v1 DeploymentSpec.replicas`."""
    shown = {
        f"{group.partition('.')[0] or 'core'}.{version}": f"{group}/{version}".strip("/") for group, version in versions
    }
    definitions = schema.builtin(minor.text).definitions
    for name in definitions:
        package, _, kind = name.removeprefix("io.k8s.api.").rpartition(".")
        if package in shown:
            for field in definitions[name].get("properties", {}):
                yield f"{shown[package]} {kind}.{field}"


def _listed(wanted: set[str]) -> Iterator[str]:
    before: MinorFacts | None = None
    for name, minor in minors.KNOWN.items():
        facts = facts_of(minor)
        if name in wanted:
            mark = " (default)" if minor == Minor() else ""
            yield f"{name}  {minor.git_version}{mark}\n"
            for title, items in changes(before, facts).items():
                yield from _wrapped(title, sorted(items))
            yield "\n"
        before = facts


def changes(before: MinorFacts | None, facts: MinorFacts) -> Mapping[str, frozenset[str]]:
    """What is different from the minor before, by title; empty items are left out."""
    if before is None:
        return {"resources": facts.resources}
    known = {field.rpartition(".")[0] for field in before.fields}
    found = {
        "new resources": facts.resources - before.resources,
        "new resources of --runtime-config": facts.optional - before.optional,
        "removed resources": (before.resources | before.optional) - (facts.resources | facts.optional),
        "deprecated": facts.deprecated - before.deprecated,
        "new fields": frozenset(one for one in facts.fields - before.fields if one.rpartition(".")[0] in known),
        "removed fields": frozenset(
            one
            for one in before.fields - facts.fields
            if one.rpartition(".")[0] in {f.rpartition(".")[0] for f in facts.fields}
        ),
        "opened feature gates": facts.open_gates - before.open_gates,
        "removed feature gates": before.gates - facts.gates,
        "new admission plugins": facts.plugins - before.plugins,
        "removed admission plugins": before.plugins - facts.plugins,
    }
    return {title: items for title, items in found.items() if items}


def _wrapped(title: str, items: Sequence[str]) -> Iterator[str]:
    """A title, and its items in lines of a limited width."""
    yield f"  {title}:\n"
    line = ""
    for item in items:
        if line and len(line) + len(item) + 2 > _WIDTH:
            yield f"    {line}\n"
            line = ""
        line = f"{line}, {item}" if line else item
    yield f"    {line}\n"
