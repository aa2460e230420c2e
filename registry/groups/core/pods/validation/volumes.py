"""Volumes: validates the volumes of a pod, which have unique names and one source each. volume_sources.py has the
sources.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from aio_apiserver.registry.base.validation import field
from aio_apiserver.registry.groups.core.pods.validation import rules, volume_sources
from aio_apiserver.registry.groups.core.pods.validation.options import PodOptions
from aio_apiserver.registry.groups.core.pods.validation.rules import Errors, Obj
from aio_apiserver.registry.groups.core.pods.validation.volume_sources import SOURCES, Volume

Volumes = Mapping[str, Obj]
"""The valid volumes by name. Mounts refer to them."""

_MORE_THAN_ONE = "may not specify more than 1 volume type"
_MISPRINTS = {"cephfs": "cephFS", "downwardAPI": "downwarAPI"}
"""The names of sources in the error for a second source, where they differ from the field (typing errors of upstream).
"""


def validate(
    volumes: Sequence[Obj], pod: Mapping[str, Any] | None, path: str, *, options: PodOptions
) -> tuple[Volumes, Errors]:
    """The valid volumes, and the errors of the others. `pod` is the metadata of a pod, None for a template."""
    errors: Errors = []
    right: dict[str, Obj] = {}
    if not volumes:
        return right, errors
    pod_name = (pod or {}).get("name", "")
    created = _created_claims(volumes, pod_name)
    for index, volume in enumerate(volumes):
        place = f"{path}[{index}]"
        found = _validate_volume(volume, place, known=right, pod_name=pod_name, options=options)
        errors += found
        if not found:
            right[volume["name"]] = volume
        claim = rules.member(volume, "persistentVolumeClaim").get("claimName", "")
        if claim in created and volume.get("persistentVolumeClaim") is not None:
            why = "must not reference a PVC that gets created for an ephemeral volume"
            errors.append(field.invalid(f"{place}.persistentVolumeClaim.claimName", claim, why))
    return right, errors


def _created_claims(volumes: Sequence[Obj], pod_name: str) -> frozenset[str]:
    """The names of the claims that will be created for the pod's ephemeral volumes."""
    if not pod_name:
        return frozenset()
    return frozenset(f"{pod_name}-{one.get('name', '')}" for one in volumes if one.get("ephemeral") is not None)


def _validate_volume(volume: Obj, path: str, *, known: Volumes, pod_name: str, options: PodOptions) -> Errors:
    name = volume.get("name", "")
    errors = _validate_source(volume, path, context=Volume(name=name, pod_name=pod_name, options=options))
    errors += rules.label(name, f"{path}.name") if name else [field.required(f"{path}.name")]
    if name in known:
        errors.append(field.duplicate(f"{path}.name", name))
    return errors


def _validate_source(volume: Obj, path: str, *, context: Volume) -> Errors:
    """The errors of the source. The first source is validated, and any other one is forbidden."""
    errors: Errors = []
    members = [member for member in SOURCES if volume.get(member) is not None]
    for member in members:
        source = volume[member]
        if member == members[0]:
            errors += SOURCES[member](source, f"{path}.{member}", context)
        else:
            errors.append(field.forbidden(f"{path}.{_MISPRINTS.get(member, member)}", _MORE_THAN_ONE))
        if member == "iscsi":
            errors += volume_sources.validate_iscsi_name(source, path, context)
    return errors if members else [field.required(path, "must specify a volume type")]
