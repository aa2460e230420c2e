"""Versions: `apiserver versions`, the minors of Kubernetes that the server can be, and what each one changes.

It reads the facts from which a server is assembled, and the OpenAPI definitions of the minors. Nothing is started.
"""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from aio_apiserver.apiserver.commands.terminal import command_lines, output
from aio_apiserver.apiserver.config.flag_grammar import UsageError
from aio_apiserver.apiserver.config.manuals import CommandExample, CommandManual
from aio_apiserver.registry.base import minors
from aio_apiserver.registry.base.minors import Minor
from aio_apiserver.registry.controlplane import completeness
from aio_apiserver.registry.controlplane.admission_plugins import names_at
from aio_apiserver.registry.controlplane.providers import providers_of
from aio_apiserver.registry.generic import enablement
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.store.provider import KindsProvider
from aio_apiserver.registry.machinery import schema
from aio_apiserver.registry.machinery.schema import definitions

_FORMS = ("text", "yaml", "json")
_OWN = (output.flag(_FORMS),)
MANUAL = CommandManual(
    about="Lists the minors of Kubernetes that the server can be (--kubernetes-version), and what is new, deprecated "
    "and removed in each. A minor is complete when the server has all that its definitions have.",
    usage=("versions [MINOR ...] [-o text|yaml|json]",),
    flags=_OWN,
    examples=(CommandExample("versions 1.36", "what Kubernetes 1.36 changes"),),
)
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


class ListedMinor(Struct, frozen=True):
    """A minor, what the server lacks of it, and what is different from the one before, by title."""

    name: str
    minor: Minor
    gaps: Sequence[str]
    changes: Mapping[str, frozenset[str]]


def run(arguments: Sequence[str]) -> int:
    """Print the list. Returns the exit code. Raises UsageError."""
    if command_lines.wants_help(arguments, MANUAL):
        return 0
    line = command_lines.parse(arguments, _OWN)
    form = output.form_of(line, _FORMS)
    for name in line.words:
        if name.removeprefix("v") not in minors.KNOWN:
            raise UsageError(f"versions: unknown minor {name}; the minors are {', '.join(minors.KNOWN)}")
    wanted = {name.removeprefix("v") for name in line.words} or set(minors.KNOWN)
    found = [one for one in _listed() if one.name in wanted]
    sys.stdout.write("".join(map(_text, found)) if form == "text" else output.text_of(form, _document(found)))
    return 0


def facts_of(minor: Minor) -> MinorFacts:
    """What a minor has."""
    gates = {gate.name: gate.is_open for gate in minor.gates.all()}
    kinds = [kind for one in providers_of(minor) if isinstance(one, KindsProvider) for kind in one.kinds]
    names = {name: version for kind in kinds for name, version in _versions_of(kind)}
    resources = frozenset(name for name, version in names.items() if enablement.is_stable(version))
    return MinorFacts(
        resources=resources,
        optional=frozenset(names) - resources,
        deprecated=frozenset(
            name for kind in kinds for name, version in _versions_of(kind) if kind.deprecation_of(version)
        ),
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


def _listed() -> Iterator[ListedMinor]:
    before: MinorFacts | None = None
    for name, minor in minors.KNOWN.items():
        gaps = completeness.gaps_of(minor)
        facts = facts_of(minor) if name in definitions.minors() else None
        yield ListedMinor(name, minor, gaps, changes(before, facts) if facts else {})
        before = facts or before


def _text(listed: ListedMinor) -> str:
    mark = " (default)" if listed.minor == Minor() else ""
    lines = [f"{listed.name}  {listed.minor.git_version}{mark}  {'incomplete' if listed.gaps else 'complete'}\n"]
    if listed.gaps:
        lines += _wrapped("missing", listed.gaps)
    for title, items in listed.changes.items():
        lines += _wrapped(title, sorted(items))
    return "".join([*lines, "\n"])


def _document(found: Iterable[ListedMinor]) -> Sequence[Mapping[str, object]]:
    return [
        {
            "minor": one.name,
            "version": one.minor.git_version,
            "missing": list(one.gaps),
            "changes": {title: sorted(items) for title, items in one.changes.items()},
        }
        for one in found
    ]


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
