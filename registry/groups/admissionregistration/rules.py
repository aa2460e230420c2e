"""Rules: validates the rules of webhooks and policies: operations, groups, versions, resources, scope. Pure."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from aio_apiserver.registry.base.validation import domains, field
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.base.validation.values import lone_wildcard

Rule = Mapping[str, Any]

_OPERATIONS = ("*", "CONNECT", "CREATE", "DELETE", "UPDATE")
MUTATING_OPERATIONS = ("*", "CONNECT", "CREATE", "UPDATE")
_SCOPES = ("*", "Cluster", "Namespaced")


def validate(rule: Rule, path: str) -> list[FieldError]:
    """The errors of a rule with operations."""
    operations = rule.get("operations") or ()
    errors = [] if operations else [field.required(f"{path}.operations")]
    errors += lone_wildcard(operations, f"{path}.operations", "operations")
    errors += validate_operations(operations, f"{path}.operations", _OPERATIONS)
    groups, versions = rule.get("apiGroups") or (), rule.get("apiVersions") or ()
    errors += [] if groups else [field.required(f"{path}.apiGroups")]
    errors += lone_wildcard(groups, f"{path}.apiGroups", "API groups")
    errors += [] if versions else [field.required(f"{path}.apiVersions")]
    errors += lone_wildcard(versions, f"{path}.apiVersions", "API versions")
    errors += [field.required(f"{path}.apiVersions[{index}]") for index, one in enumerate(versions) if not one]
    errors += _validate_resources(rule.get("resources") or (), f"{path}.resources")
    scope = rule.get("scope")
    if scope is not None and scope not in _SCOPES:
        errors.append(field.not_supported(f"{path}.scope", scope, _SCOPES))
    return errors


def validate_operations(operations: Sequence[str], path: str, supported: Collection[str]) -> list[FieldError]:
    """The errors for unsupported operations."""
    return [
        field.not_supported(f"{path}[{index}]", one, supported)
        for index, one in enumerate(operations)
        if one not in supported
    ]


def validate_named(rule: Rule, path: str) -> list[FieldError]:
    """The errors of a rule that may have resourceNames."""
    errors, names = [], rule.get("resourceNames") or ()
    for index, name in enumerate(names):
        here = f"{path}.resourceNames[{index}]"
        errors += domains.validate_segment(name, here)
        if name in names[:index]:
            errors.append(field.duplicate(here, name))
    return errors + validate(rule, path)


def _validate_resources(resources: Sequence[str], path: str) -> list[FieldError]:
    errors = [] if resources else [field.required(path)]
    whole: set[str] = set()
    everywhere: set[str] = set()
    is_plain = False
    for index, text in enumerate(resources):
        here = f"{path}[{index}]"
        resource, slash, subresource = text.partition("/")
        if not text:
            errors.append(field.required(here))
        elif not slash:
            is_plain = text != "*"
        if not slash:
            continue
        why = "if '{}' is present, must not specify {}".format
        if resource in whole:
            errors.append(field.invalid(here, text, why(f"{resource}/*", text)))
        if subresource in everywhere:
            errors.append(field.invalid(here, text, why(f"*/{subresource}", text)))
        whole |= {resource} if subresource == "*" else set()
        everywhere |= {subresource} if resource == "*" else set()
    if len(resources) > 1 and "*/*" in resources:
        errors.append(field.invalid(path, resources, "if '*/*' is present, must not specify other resources"))
    if "*" in resources and is_plain:
        detail = "if '*' is present, must not specify other resources without subresources"
        errors.append(field.invalid(path, resources, detail))
    return errors
