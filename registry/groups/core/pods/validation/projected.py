"""Projected: validates projected volumes and downward API volumes. Pure.

Sources of disabled feature gates are dropped before validation.
"""

from aio_apiserver.registry.base.validation import field
from aio_apiserver.registry.groups.core.pods.validation import downward_api, rules
from aio_apiserver.registry.groups.core.pods.validation.options import PodOptions
from aio_apiserver.registry.groups.core.pods.validation.rules import Errors, Obj

_SHORTEST = 10 * 60
_LONGEST = 2**32
_DUPLICATE = "conflicting duplicate paths"
_DOWNWARD = "downwardAPI"
_TOKEN = "serviceAccountToken"  # noqa: S105 - the name of a field
_TRUST = "clusterTrustBundle"
_KINDS = ("secret", "configMap", _DOWNWARD, _TOKEN, _TRUST)


def validate_projected(source: Obj, path: str, *, options: PodOptions) -> Errors:
    """The errors of a projected volume."""
    errors = rules.file_mode(source, path, "defaultMode")
    seen: set[str] = set()
    for index, one in enumerate(source.get("sources") or ()):
        here = f"{path}.sources[{index}]"
        kinds = [kind for kind in _KINDS if one.get(kind) is not None]
        for kind in kinds:
            if kind == _TOKEN:
                errors += _validate_token(one[kind], f"{here}.{kind}", path=path, options=options)
            elif kind == _TRUST:
                errors += _validate_trust(one[kind], f"{here}.{kind}")
            else:
                errors += _validate_files(kind, one[kind], here=f"{here}.{kind}", path=path, seen=seen)
        if len(kinds) > 1:
            errors.append(field.forbidden(here, "may not specify more than 1 volume type per source"))
    return errors


def _validate_files(kind: str, source: Obj, *, here: str, path: str, seen: set[str]) -> Errors:
    """The errors of one source, also for paths that an earlier source uses."""
    is_downward = kind == _DOWNWARD
    errors = [] if is_downward else rules.required(source, here, "name")
    for index, item in enumerate(source.get("items") or ()):
        if is_downward:
            errors += validate_downward_file(item, here)
        else:
            errors += validate_key_to_path(item, f"{here}.items[{index}]")
        name = item.get("path")
        if name and name in seen:
            errors.append(field.invalid(path, name if is_downward else source.get("name", ""), _DUPLICATE))
        seen.add(name)
    return errors


def _validate_trust(source: Obj, here: str) -> Errors:
    """The errors of a trust bundle, which is selected by its name or by its signer."""
    name, signer = source.get("name"), source.get("signerName")
    errors: Errors = []
    if name is not None and signer is not None:
        errors.append(field.invalid(here, dict(source), "only one of name and signerName may be used"))
    elif name is not None:
        errors += rules.required(source, here, "name")
        if source.get("labelSelector") is not None:
            why = "labelSelector must be unset if name is specified"
            errors.append(field.invalid(f"{here}.labelSelector", source["labelSelector"], why))
    elif signer is not None:
        errors += rules.required(source, here, "signerName")
    else:
        errors.append(field.required(here, "either name or signerName must be specified"))
    return errors + rules.required(source, here, "path") + rules.local_path(source.get("path", ""), f"{here}.path")


def _validate_token(source: Obj, here: str, *, path: str, options: PodOptions) -> Errors:
    seconds = source.get("expirationSeconds") or 0
    errors: Errors = []
    if seconds < _SHORTEST:
        why = "may not specify a duration less than 10 minutes"
        errors.append(field.invalid(f"{here}.expirationSeconds", seconds, why))
    if seconds > _LONGEST:
        why = "may not specify a duration larger than 2^32 seconds"
        errors.append(field.invalid(f"{here}.expirationSeconds", seconds, why))
    errors += rules.required(source, path, "path")
    if source.get("path") and not options.allows_any_token_path:
        errors += rules.local_path(source["path"], f"{path}.path")
    return errors


def validate_downward(source: Obj, path: str) -> Errors:
    """The errors of a downward API volume."""
    errors = rules.file_mode(source, path, "defaultMode")
    for item in source.get("items") or ():
        errors += validate_downward_file(item, path)
    return errors


def validate_downward_file(item: Obj, path: str) -> Errors:
    """The errors of one file with a field of the pod."""
    errors = rules.required(item, path, "path")
    errors += rules.local_path(item.get("path", ""), f"{path}.path")
    reference, resource = item.get("fieldRef"), item.get("resourceFieldRef")
    if reference is not None:
        errors += downward_api.validate_field(reference, f"{path}.fieldRef", allowed=downward_api.IN_VOLUMES)
        if resource is not None:
            why = "fieldRef and resourceFieldRef can not be specified simultaneously"
            errors.append(field.invalid(path, "resource", why))
    elif resource is not None:
        errors += downward_api.validate_resource(resource, f"{path}.resourceFieldRef", is_in_volume=True)
    else:
        errors.append(field.required(path, "one of fieldRef and resourceFieldRef is required"))
    return errors + rules.file_mode(item, path, "mode")


def validate_key_to_path(item: Obj, path: str) -> Errors:
    """The errors of one item, which maps a key to a path."""
    errors = rules.required(item, path, "key", "path")
    errors += rules.local_path(item.get("path", ""), f"{path}.path")
    return errors + rules.file_mode(item, path, "mode")
