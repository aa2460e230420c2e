"""Annotations: validates the annotations with a meaning for pods: old profiles, tolerations, mirror pods, deletion
cost. Pure.
"""

import re
from collections.abc import Mapping

from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.validation import field
from aio_apiserver.registry.groups.core.pods.parts import app_armor, toleration_texts
from aio_apiserver.registry.groups.core.pods.validation import rules, scheduling
from aio_apiserver.registry.groups.core.pods.validation.options import PodOptions
from aio_apiserver.registry.groups.core.pods.validation.rules import Errors, Obj

_TOLERATIONS = "scheduler.alpha.kubernetes.io/tolerations"
_DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
_COST = re.compile(r"-?(0|[1-9]\d*|(?<=-)\d+)", re.ASCII)
_SECCOMP_POD = "seccomp.security.alpha.kubernetes.io/pod"
_SECCOMP_CONTAINER = "container.seccomp.security.alpha.kubernetes.io/"
_SECCOMP_WORDS: Mapping[str, frozenset[str]] = {
    "Unconfined": frozenset({"unconfined"}),
    "RuntimeDefault": frozenset({"runtime/default", "docker/default"}),
}
"""The values in annotations for each type of seccomp profile."""
_APP_ARMOR_WORDS = {kind: frozenset({word}) for word, kind in app_armor.TYPES.items()}
_FROZEN = ((app_armor.PREFIX, "AppArmor annotations"), (scheduling.MIRROR, "mirror pod annotation"))


def validate(annotations: Mapping[str, str], spec: Obj, path: str, *, options: PodOptions) -> Errors:
    """The errors of the annotations of a pod or a pod template."""
    errors: Errors = []
    if scheduling.MIRROR in annotations and not spec.get("nodeName"):
        why = "must set spec.nodeName if mirror pod annotation is set"
        errors.append(field.invalid(f"{path}[{scheduling.MIRROR}]", annotations[scheduling.MIRROR], why))
    if annotations.get(_TOLERATIONS):
        errors += _validate_tolerations(annotations[_TOLERATIONS], path)
    cost = annotations.get(_DELETION_COST)
    if cost is not None and not options.allows_any_deletion_cost and not is_deletion_cost(cost):
        errors.append(field.invalid(f"{path}[{_DELETION_COST}]", cost, "must be a 32bit integer"))
    if _SECCOMP_POD in annotations:
        errors += _validate_seccomp(annotations[_SECCOMP_POD], f"{path}.{_SECCOMP_POD}")
    for key, value in annotations.items():
        if key.startswith(_SECCOMP_CONTAINER):
            errors += _validate_seccomp(value, f"{path}.{key}")
    for key, value in annotations.items():
        if key.startswith(app_armor.PREFIX):
            errors += _validate_app_armor(key, value, spec, f"{path}[{key}]")
    return errors


def has_deletion_cost_that_is_wrong(metadata: Obj | None) -> bool:
    """Whether an old object has a deletion cost that today's rule refuses."""
    cost = rules.member(metadata, "annotations").get(_DELETION_COST)
    return cost is not None and not is_deletion_cost(cost)


def is_deletion_cost(text: str) -> bool:
    """Whether the text is a 32-bit integer without a plus sign or leading zeros."""
    return len(text) < 32 and _COST.fullmatch(text) is not None and -(2**31) <= int(text) < 2**31


def _validate_tolerations(text: str, path: str) -> Errors:
    try:
        tolerations = toleration_texts.read(text, package="core")
    except ValueError as exc:
        return [field.invalid(path, _TOLERATIONS, str(exc))]
    return scheduling.validate_tolerations(tolerations, f"{path}.{_TOLERATIONS}")


def _validate_seccomp(profile: str, path: str) -> Errors:
    if any(profile in words for words in _SECCOMP_WORDS.values()):
        return []
    if profile.startswith(app_armor.LOCAL):
        return rules.relative_path(profile.removeprefix(app_armor.LOCAL), path)
    return [field.invalid(path, profile, "must be a valid seccomp profile")]


def _validate_app_armor(key: str, profile: str, spec: Obj, path: str) -> Errors:
    name = key.removeprefix(app_armor.PREFIX)
    errors: Errors = []
    if all(container.get("name") != name for container, _ in rules.each_container(spec, "")):
        errors.append(field.invalid(path, name, "container not found"))
    if profile and profile not in app_armor.TYPES and not profile.startswith(app_armor.LOCAL):
        errors.append(field.invalid(path, profile, f"invalid AppArmor profile name: {quote(profile)}"))
    return errors


def validate_update(new: Mapping[str, str], old: Mapping[str, str], path: str) -> Errors:
    """The errors for changes to immutable annotations."""
    errors: Errors = []
    for key, value in old.items():
        if new.get(key) != value:
            errors += _forbidden(key, path, "may not remove or update")
    for key in new:
        if key not in old:
            errors += _forbidden(key, path, "may not add")
    return errors


def _forbidden(key: str, path: str, what: str) -> Errors:
    return [
        field.forbidden(f"{path}[{key}]", f"{what} {subject}")
        for prefix, subject in _FROZEN
        if (key.startswith(prefix) if prefix.endswith("/") else key == prefix)
    ]


def validate_profiles(metadata: Obj, spec: Obj, path: str) -> Errors:
    """The errors for annotations and fields that name different profiles."""
    annotations: Mapping[str, str] = metadata.get("annotations") or {}
    if not annotations:
        return []
    return _match_seccomp(annotations, spec, path) + _match_app_armor(annotations, spec, path)


def _match_seccomp(annotations: Mapping[str, str], spec: Obj, path: str) -> Errors:
    owners = [(_SECCOMP_POD, spec, path)]
    for container, place in rules.each_container(spec, path):
        owners.append((_SECCOMP_CONTAINER + container.get("name", ""), container, place))
    errors: Errors = []
    for key, owner, place in owners:
        profile = rules.member(owner, "securityContext").get("seccompProfile")
        if profile is not None and key in annotations:
            here = f"{place}.securityContext.seccompProfile"
            errors += _match(annotations[key], profile, here, words=_SECCOMP_WORDS, subject="seccomp")
    return errors


def _match_app_armor(annotations: Mapping[str, str], spec: Obj, path: str) -> Errors:
    if rules.member(spec, "os").get("name") == "windows":
        return []
    errors: Errors = []
    of_pod = rules.member(spec, "securityContext").get("appArmorProfile")
    for container, place in rules.each_container(spec, path):
        profile = rules.member(container, "securityContext").get("appArmorProfile") or of_pod
        annotation = annotations.get(app_armor.PREFIX + container.get("name", ""))
        if profile is not None and annotation is not None:
            here = f"{place}.securityContext.appArmorProfile"
            errors += _match(annotation, profile, here, words=_APP_ARMOR_WORDS, subject="apparmor")
    return errors


def _match(annotation: str, profile: Obj, path: str, *, words: Mapping[str, frozenset[str]], subject: str) -> Errors:
    kind = profile.get("type", "")
    if kind in words:
        is_right = annotation in words[kind]
        return (
            [] if is_right else [field.forbidden(f"{path}.type", f"{subject} type in annotation and field must match")]
        )
    if kind != "Localhost":
        return []
    if not annotation.startswith(app_armor.LOCAL):
        return [field.forbidden(f"{path}.type", f"{subject} type in annotation and field must match")]
    if annotation.removeprefix(app_armor.LOCAL) != profile.get("localhostProfile"):
        return [field.forbidden(f"{path}.localhostProfile", f"{subject} profile in annotation and field must match")]
    return []
