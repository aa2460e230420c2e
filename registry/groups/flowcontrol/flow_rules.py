"""Flow rules: validates the rules of FlowSchemas: subjects, resource rules and non-resource rules. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from aio_apiserver.registry.base.validation import domains, field, names
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.base.validation.names import DNS1123_LABEL
from aio_apiserver.registry.base.validation.values import lone_wildcard

Part = Mapping[str, Any]

_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch")
_SUBJECTS = {"ServiceAccount": "serviceAccount", "User": "user", "Group": "group"}
_SUBJECT_KINDS = ("Group", "ServiceAccount", "User")
_NAMESPACE = "each member of this list must be '*' or a DNS-1123 label; "


def validate(rule: Part, path: str) -> list[FieldError]:
    """The errors of one rule."""
    errors, subjects = [], rule.get("subjects") or ()
    for index, subject in enumerate(subjects):
        errors += _validate_subject(subject, f"{path}.subjects[{index}]")
    if not subjects:
        errors.append(field.required(f"{path}.subjects", "subjects must contain at least one value"))
    resources, others = rule.get("resourceRules") or (), rule.get("nonResourceRules") or ()
    if not resources and not others:
        why = "at least one of resourceRules and nonResourceRules has to be non-empty"
        errors.append(field.required(path, why))
    for index, one in enumerate(resources):
        errors += _validate_resources(one, f"{path}.resourceRules[{index}]")
    for index, one in enumerate(others):
        errors += _validate_paths(one, f"{path}.nonResourceRules[{index}]")
    return errors


def _validate_subject(subject: Part, path: str) -> list[FieldError]:
    kind = subject.get("kind") or ""
    if kind not in _SUBJECTS:
        return [field.not_supported(f"{path}.kind", kind, _SUBJECT_KINDS)]
    name = _SUBJECTS[kind]
    here, one = f"{path}.{name}", subject.get(name)
    if one is None:
        errors = [field.required(here, f"{name} is required when subject kind is '{kind}'")]
    elif kind == "ServiceAccount":
        errors = _validate_account(one, here)
    else:
        errors = [] if one.get("name") else [field.required(f"{here}.name")]
    for other_kind, other in _SUBJECTS.items():
        if other != name and subject.get(other) is not None:
            why = f"{other} is forbidden when subject kind is not '{other_kind}'"
            errors.append(field.forbidden(f"{path}.{other}", why))
    return errors


def _validate_account(account: Part, path: str) -> list[FieldError]:
    errors, name, namespace = [], account.get("name") or "", account.get("namespace") or ""
    if not name:
        errors.append(field.required(f"{path}.name"))
    elif name != "*":
        errors += field.invalid_each(f"{path}.name", name, names.is_dns_subdomain(name, False))
    if not namespace:
        return [*errors, field.required(f"{path}.namespace", "must specify namespace for service account")]
    return errors + domains.validate_format(namespace, DNS1123_LABEL, f"{path}.namespace")


def _validate_verbs(verbs: Sequence[str], path: str) -> list[FieldError]:
    if not verbs:
        return [field.required(path, "verbs must contain at least one value")]
    if "*" in verbs:
        return lone_wildcard(verbs, path, "verbs")
    return [] if set(verbs) <= set(_VERBS) else [field.not_supported(path, verbs, _VERBS)]


def _validate_resources(rule: Part, path: str) -> list[FieldError]:
    errors = _validate_verbs(rule.get("verbs") or (), f"{path}.verbs")
    for name, one, what in (("apiGroups", "api group", "api groups"), ("resources", "resource", "resources")):
        values, here = rule.get(name) or (), f"{path}.{name}"
        missing = [] if values else [field.required(here, f"resource rules must supply at least one {one}")]
        errors += missing + lone_wildcard(values, here, what)
    return errors + _validate_namespaces(rule, f"{path}.namespaces")


def _validate_namespaces(rule: Part, path: str) -> list[FieldError]:
    namespaces = rule.get("namespaces") or ()
    if not namespaces and not rule.get("clusterScope"):
        why = "resource rules that are not cluster scoped must supply at least one namespace"
        return [field.required(path, why)]
    if "*" in namespaces:
        return lone_wildcard(namespaces, path, "namespaces")
    return [
        field.invalid(f"{path}[{index}]", namespace, _NAMESPACE + message)
        for index, namespace in enumerate(namespaces)
        for message in DNS1123_LABEL.check(namespace)
    ]


def _validate_paths(rule: Part, path: str) -> list[FieldError]:
    errors, here = _validate_verbs(rule.get("verbs") or (), f"{path}.verbs"), f"{path}.nonResourceURLs"
    urls = rule.get("nonResourceURLs") or ()
    if not urls:
        return [*errors, field.required(here, "nonResourceURLs must contain at least one value")]
    if "*" in urls:
        return errors + lone_wildcard(urls, here, "non-resource URLs")
    checked = ((index, url, _check_path(url)) for index, url in enumerate(urls))
    return errors + [field.invalid(f"{here}[{index}]", url, why) for index, url, why in checked if why]


def _check_path(url: str) -> str:
    """The message for an invalid URL pattern; empty for a valid one."""
    checks = (
        (not url, "must not be empty"),
        (not url.startswith("/"), "must start with slash"),
        (" " in url, "must not contain white-space"),
        ("//" in url, "must not contain double slash"),
        ("*" in url and (url.count("*") > 1 or not url.endswith("/*")), "wildcard can only do suffix matching"),
    )
    return next((why for is_wrong, why in checks if is_wrong), "")
