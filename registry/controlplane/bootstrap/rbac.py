"""RBAC: reconciles kube-apiserver's default roles and bindings, as `kubectl auth reconcile` does.

rbac.json has them, without the fields that all of them share, and is generated (scripts/upstream/tables/roles.py). A
row with `since` or `until` is that of some minors.
Must hold: missing rules and subjects are added, and added ones stay. An object with the annotation
`autoupdate: "false"` is left alone. A binding to another role is deleted and created anew. Roles and bindings that are
right are not written.
"""

import asyncio
import functools
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import orjson
from msgspec import Raw

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects, timeline
from aio_apiserver.registry.base.timeline import Lifetime, Version
from aio_apiserver.registry.controlplane.bootstrap.own_client import OwnClient
from aio_apiserver.registry.generic.in_process_client import ResourcePath
from aio_apiserver.registry.groups.rbac import coverage
from aio_apiserver.registry.groups.rbac.bindings import CLUSTERROLEBINDINGS, ROLEBINDINGS
from aio_apiserver.registry.groups.rbac.clusterroles import CLUSTERROLES
from aio_apiserver.registry.groups.rbac.policy_rules import compiled
from aio_apiserver.registry.groups.rbac.roles import ROLES
from aio_apiserver.registry.groups.rbac.validation import GROUP, default_binding

_AUTO_UPDATE = "rbac.authorization.kubernetes.io/autoupdate"
_LABELS = {"kubernetes.io/bootstrapping": "rbac-defaults"}
_SELECTORS = "aggregationRule.clusterRoleSelectors"
_ROLES = (CLUSTERROLES.plural, ROLES.plural)
_BINDINGS = (CLUSTERROLEBINDINGS.plural, ROLEBINDINGS.plural)

Mend = Callable[[Object], bool]


@functools.cache
def _policy() -> Mapping[str, Raw]:
    text = Path(__file__).with_name("rbac.json").read_bytes()
    return msgspec.json.decode(text, type=dict[str, Raw])


def default_objects(plural: str, version: Version) -> list[Object]:
    """The default objects of one kind in a minor."""
    return [_expanded(row) for row in orjson.loads(memoryview(_policy()[plural])) if _lifetime(row).has(version)]


def _lifetime(row: Object) -> Lifetime:
    """The minors of a row, whose fields it takes out of the row."""
    return Lifetime(**{name: timeline.version_of(row.pop(name)) for name in ("since", "until") if name in row})


def _expanded(row: Object) -> Object:
    """An object, from its row in the file."""
    labels = {**_LABELS, **row.pop("labels", {})}
    metadata = {"name": row.pop("name"), "labels": labels, "annotations": {_AUTO_UPDATE: "true"}}
    if "namespace" in row:
        metadata["namespace"] = row.pop("namespace")
    return {"metadata": metadata, **row}


async def ensure(client: OwnClient, version: Version, *more: Object) -> None:
    """Reconcile all of them and some more cluster roles at once: storage commits concurrent writes together."""
    added = {CLUSTERROLES.plural: [objects.clone(one) for one in more]}
    await asyncio.gather(
        *(
            _ensure(client, [*default_objects(plural, version), *added.get(plural, ())], plural, _mend_role)
            for plural in _ROLES
        ),
        *(_ensure(client, default_objects(plural, version), plural, _mend_binding) for plural in _BINDINGS),
    )


async def _ensure(client: OwnClient, own: list[Object], plural: str, mend: Callable[[Object, Object], bool]) -> None:
    place = ResourcePath(GROUP, "v1", plural)
    present = {_key(obj): obj for obj in await client.all(place)}
    await asyncio.gather(*(_ensure_one(client, place, obj, present.get(_key(obj)), partial(mend, obj)) for obj in own))


async def _ensure_one(client: OwnClient, place: ResourcePath, obj: Object, present: Object | None, mend: Mend) -> None:
    name, namespace = obj["metadata"]["name"], obj["metadata"].get("namespace", "")
    if present is None:
        await client.create_missing(place, obj, namespace=namespace)
    elif objects.get(present, "metadata.annotations", {}).get(_AUTO_UPDATE) == "false":
        return
    elif _role_of(present) != _role_of(obj):
        await client.delete(place, name, namespace=namespace)
        await client.create_missing(place, obj, namespace=namespace)
    elif mend(present):
        await client.change(place, name, mend, namespace=namespace)


def _key(obj: Object) -> tuple[str, str]:
    return obj["metadata"].get("namespace", ""), obj["metadata"]["name"]


def _role_of(obj: Object) -> Any:
    """The role of a binding; None for roles."""
    if "roleRef" not in obj:
        return None
    role_ref = obj["roleRef"]
    return role_ref["kind"], role_ref["name"]


def _mend_role(wanted: Object, present: Object) -> bool:
    """Add missing rules and selectors in place; returns whether anything has changed. Removes an unwanted aggregation
    rule.
    """
    is_changed = _mend_metadata(wanted, present)
    if missing := coverage.missing(compiled(present.get("rules")), wanted.get("rules") or ()):
        present["rules"] = [*(present.get("rules") or ()), *(right.as_rule() for right in missing)]
        is_changed = True
    selectors = objects.get(present, _SELECTORS, ())
    lacking = [one for one in objects.get(wanted, _SELECTORS, ()) if one not in selectors]
    if lacking:
        present["aggregationRule"] = {"clusterRoleSelectors": [*selectors, *lacking]}
    elif present.get("aggregationRule") is not None and wanted.get("aggregationRule") is None:
        del present["aggregationRule"]
    else:
        return is_changed
    return True


def _mend_binding(wanted: Object, present: Object) -> bool:
    """Add missing subjects in place; returns whether anything has changed."""
    is_changed = _mend_metadata(wanted, present)
    complete = objects.clone(wanted)
    default_binding(complete)
    subjects = present.get("subjects") or []
    lacking = [subject for subject in complete.get("subjects") or () if subject not in subjects]
    if lacking:
        present["subjects"] = [*subjects, *lacking]
    return is_changed or bool(lacking)


def _mend_metadata(wanted: Object, present: Object) -> bool:
    """Add missing labels and annotations; present ones keep their values."""
    before = objects.clone(present["metadata"])
    for name in ("labels", "annotations"):
        present["metadata"][name] = {**wanted["metadata"].get(name, {}), **(present["metadata"].get(name) or {})}
    return bool(before != present["metadata"])
