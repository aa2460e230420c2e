"""Mounts: validates volumeMounts and volumeDevices of a container. Pure.

As in kube-apiserver, some error paths leave out the index of the mount.
"""

from collections.abc import Sequence

from aio_apiserver.registry.base.validation import field
from aio_apiserver.registry.groups.core.pods.validation import rules
from aio_apiserver.registry.groups.core.pods.validation.rules import Errors, Obj
from aio_apiserver.registry.groups.core.pods.validation.volumes import Volumes

_PROPAGATIONS = ("Bidirectional", "HostToContainer", "None")
_RECURSIVE = ("Disabled", "Enabled", "IfPossible")
_ONLY_CLAIMS = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"


def validate(container: Obj, path: str, *, volumes: Volumes) -> Errors:
    """The errors of the mounts, then those of the devices."""
    mounts, devices = container.get("volumeMounts") or (), container.get("volumeDevices") or ()
    errors = _validate_mounts(mounts, container, f"{path}.volumeMounts", devices=devices, volumes=volumes)
    return errors + _validate_devices(devices, f"{path}.volumeDevices", mounts=mounts, volumes=volumes)


def _validate_mounts(
    mounts: Sequence[Obj], container: Obj, path: str, *, devices: Sequence[Obj], volumes: Volumes
) -> Errors:
    errors: Errors = []
    names, paths = _places(devices, "devicePath")
    is_privileged = bool(rules.member(container, "securityContext").get("privileged"))
    seen: set[str] = set()
    for index, mount in enumerate(mounts):
        here, name, place = f"{path}[{index}]", mount.get("name", ""), mount.get("mountPath", "")
        rows = (
            (not name, field.required(f"{here}.name")),
            (name not in volumes, field.not_found(f"{here}.name", name)),
            (not place, field.required(f"{here}.mountPath")),
            (place in seen, field.invalid(f"{here}.mountPath", place, "must be unique")),
            (name in names, field.invalid(f"{here}.name", name, "must not already exist in volumeDevices")),
            (
                place in paths,
                field.invalid(f"{here}.mountPath", place, "must not already exist as a path in volumeDevices"),
            ),
        )
        errors += [error for is_wrong, error in rows if is_wrong]
        seen.add(place)
        errors += _validate_sub_paths(mount, here, path)
        errors += _validate_propagation(mount, path, is_privileged=is_privileged)
        errors += _validate_recursion(mount, f"{path}.recursiveReadOnly")
    return errors


def _places(entries: Sequence[Obj], member: str) -> tuple[frozenset[str], frozenset[str]]:
    """The names and the paths that the entries use."""
    by_name = {entry.get("name", ""): entry.get(member, "") for entry in entries}
    return frozenset(by_name), frozenset(by_name.values())


def _validate_sub_paths(mount: Obj, here: str, path: str) -> Errors:
    plain, expression = mount.get("subPath"), mount.get("subPathExpr")
    errors = rules.relative_path(plain, f"{path}.subPath") if plain else []
    if expression:
        if plain:
            why = "subPathExpr and subPath are mutually exclusive"
            errors.append(field.invalid(f"{here}.subPathExpr", expression, why))
        errors += rules.relative_path(expression, f"{path}.subPathExpr")
    return errors


def _validate_propagation(mount: Obj, path: str, *, is_privileged: bool) -> Errors:
    errors = rules.word(mount, path, "mountPropagation", _PROPAGATIONS)
    if mount.get("mountPropagation") == "Bidirectional" and not is_privileged:
        why = "Bidirectional mount propagation is available only to privileged containers"
        errors.append(field.forbidden(f"{path}.mountPropagation", why))
    return errors


def _validate_recursion(mount: Obj, path: str) -> Errors:
    wanted = mount.get("recursiveReadOnly")
    if wanted is None or wanted == "Disabled":
        return []
    if wanted not in _RECURSIVE:
        return [field.not_supported(path, wanted, _RECURSIVE)]
    errors: Errors = []
    if not mount.get("readOnly"):
        errors.append(field.forbidden(path, "may only be specified when readOnly is true"))
    if mount.get("mountPropagation") not in {None, "None"}:
        why = "may only be specified when mountPropagation is None or not specified"
        errors.append(field.forbidden(path, why))
    return errors


def _validate_devices(devices: Sequence[Obj], path: str, *, mounts: Sequence[Obj], volumes: Volumes) -> Errors:
    errors: Errors = []
    names, paths = _places(mounts, "mountPath")
    seen_names: set[str] = set()
    seen_paths: set[str] = set()
    for index, device in enumerate(devices):
        here, name, place = f"{path}[{index}]", device.get("name", ""), device.get("devicePath", "")
        goes_up = ".." in place.split("/")
        rows = (
            (not name, field.required(f"{here}.name")),
            (name in seen_names, field.invalid(f"{here}.name", name, "must be unique")),
            (name in volumes and not _is_claim(volumes[name]), field.invalid(f"{here}.name", name, _ONLY_CLAIMS)),
            (name not in volumes, field.not_found(f"{here}.name", name)),
            (not place, field.required(f"{here}.devicePath")),
            (place in seen_paths, field.invalid(f"{here}.devicePath", place, "must be unique")),
            (goes_up, field.invalid(f"{here}.devicePath", place, "can not contain backsteps ('..')")),
            (name in names, field.invalid(f"{here}.name", name, "must not already exist in volumeMounts")),
            (
                place in paths,
                field.invalid(f"{here}.devicePath", place, "must not already exist as a path in volumeMounts"),
            ),
        )
        errors += [error for is_wrong, error in rows if is_wrong]
        if not goes_up:
            seen_paths.add(place)
        if name:
            seen_names.add(name)
    return errors


def _is_claim(volume: Obj) -> bool:
    return volume.get("persistentVolumeClaim") is not None or volume.get("ephemeral") is not None
