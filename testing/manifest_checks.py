"""manifest_checks: compares what servers of several minors make of manifests, each created as a dry run.

Namespaces and CustomResourceDefinitions are created for all other objects to refer to. Must hold: a manifest that all
minors treat alike has no finding, unless all of them refuse it.
"""

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from aio_apiserver.registry.base.minors import Minor
from aio_apiserver.testing import manifests
from aio_apiserver.testing.client import BlockingClient, Refused
from aio_apiserver.testing.server import Server

REFUSED, ACCEPTED, WARNED, CHANGED = "refused", "accepted", "warned", "changed"
_SERVERS_OWN = frozenset({"creationTimestamp", "generation", "managedFields", "resourceVersion", "selfLink", "uid"})
_MOST_CHANGES = 5


class ManifestFinding(Struct, frozen=True):
    """One row: the manifest, the minor that treats it in another way than the one before, and what it does."""

    manifest: str
    minor: str
    effect: str
    detail: str


class Outcome(Struct, frozen=True):
    """What one minor made of a manifest: the object, its warnings, or the reason of the refusal."""

    obj: Any = None
    warnings: Sequence[str] = ()
    refusal: str = ""


def check(minors: Sequence[Minor], paths: Sequence[Path]) -> Sequence[ManifestFinding]:
    """What each minor makes of the manifests in another way than the minor before. Raises OSError, ValueError."""
    parts = manifests.read(paths)
    outcomes = [_outcomes(minor, parts) for minor in minors]
    return [
        finding
        for index, part in enumerate(parts)
        for finding in _compared(part, minors, [one[index] for one in outcomes])
    ]


def _outcomes(minor: Minor, parts: Sequence[manifests.ManifestPart]) -> Sequence[Outcome]:
    with Server(kubernetes_version=minor.text) as server, server.client() as client:
        loader = manifests.Loader(client)
        for namespace in sorted({(part.obj.get("metadata") or {}).get("namespace") or "default" for part in parts}):
            with contextlib.suppress(Refused):
                client.request("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
        return [_outcome(client, loader, part) for part in parts]


def _outcome(client: BlockingClient, loader: manifests.Loader, part: manifests.ManifestPart) -> Outcome:
    try:
        path = loader.collection(part.obj)
    except (Refused, ValueError) as exc:
        return Outcome(refusal=f"no such API: {exc}")
    answer = client.exchange("POST", f"{path}?dryRun=All&fieldValidation=Warn", part.obj)
    if answer.status >= 400:
        return Outcome(refusal=answer.message, warnings=answer.warnings)
    if part.obj["kind"] == manifests.DEFINITION:
        loader.put(part)
    return Outcome(obj=_without_server_fields(answer.body), warnings=answer.warnings)


def _without_server_fields(obj: Any) -> Any:
    """The object without the fields that the server sets in each object."""
    metadata = {name: value for name, value in obj["metadata"].items() if name not in _SERVERS_OWN}
    return {**obj, "metadata": metadata}


def _compared(
    part: manifests.ManifestPart, minors: Sequence[Minor], outcomes: Sequence[Outcome]
) -> Iterator[ManifestFinding]:
    name = f"{part.where}: {part.obj['kind']} {(part.obj.get('metadata') or {}).get('name', '')}".rstrip()
    if outcomes[0].refusal:
        yield ManifestFinding(name, minors[0].text, REFUSED, outcomes[0].refusal)
    for minor, before, after in zip(minors[1:], outcomes, outcomes[1:], strict=False):
        for effect, detail in _differences(before, after):
            yield ManifestFinding(name, minor.text, effect, detail)


def _differences(before: Outcome, after: Outcome) -> Iterator[tuple[str, str]]:
    if after.refusal and after.refusal != before.refusal:
        yield REFUSED, after.refusal
    elif before.refusal and not after.refusal:
        yield ACCEPTED, "no longer refused"
    for warning in after.warnings:
        if warning not in before.warnings:
            yield WARNED, warning
    if not before.refusal and not after.refusal and before.obj != after.obj:
        changes = list(_changes(before.obj, after.obj, ""))
        more = f", and {len(changes) - _MOST_CHANGES} more" if len(changes) > _MOST_CHANGES else ""
        yield CHANGED, "; ".join(changes[:_MOST_CHANGES]) + more


def _changes(before: Any, after: Any, path: str) -> Iterator[str]:
    """The fields that differ: `spec.a removed`, `spec.b set to 1`, `spec.c 1 -> 2`."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name in [*before, *(name for name in after if name not in before)]:
            here = f"{path}.{name}".lstrip(".")
            if name not in after:
                yield f"{here} removed"
            elif name not in before:
                yield f"{here} set to {after[name]!r}"
            else:
                yield from _changes(before[name], after[name], here)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, pair in enumerate(zip(before, after, strict=True)):
            yield from _changes(*pair, f"{path}[{index}]")
    elif before != after:
        yield f"{path} {before!r} -> {after!r}"
