"""Webhooks: the strategy and rules of validating and mutating webhook configurations.

Must hold: an update may keep the violations of newer rules that the old object has, such as unknown side effects.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.validation import domains, field, label_selectors, urls
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.base.validation.names import DNS1035_LABEL
from aio_apiserver.registry.generic.strategy import Strategy, StrategyContext
from aio_apiserver.registry.groups.admissionregistration import expressions, rules
from aio_apiserver.registry.groups.admissionregistration.names import warn_of_reserved_name

FAILURE_POLICIES = ("Fail", "Ignore")
MATCH_POLICIES = ("Equivalent", "Exact")
REINVOCATION_POLICIES = ("IfNeeded", "Never")
SELECTORS = ("namespaceSelector", "objectSelector")

_SIDE_EFFECTS = ("None", "NoneOnDryRun", "Some", "Unknown")
_NO_SIDE_EFFECTS = ("None", "NoneOnDryRun")
_REVIEW_VERSIONS = ("v1", "v1beta1")
_SECONDS = range(1, 31)

Webhook = Mapping[str, Any]


class WebhookConfigurationStrategy(Strategy, frozen=True, kw_only=True):
    """The strategy of webhook configurations. `mutates`: the webhooks change objects, and may be reinvoked."""

    mutates: bool = False
    takes_long: bool = True
    """Its match conditions are compiled."""

    def validate(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        return _validate(obj.get("webhooks") or (), None, mutates=self.mutates)

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        found = _validate(new.get("webhooks") or (), old.get("webhooks") or (), mutates=self.mutates)
        return self.validate_metadata_again(new) + found

    def warnings_on_create(self, context: StrategyContext, obj: Object) -> list[str]:
        return warn_of_reserved_name(obj)

    def warnings_on_update(self, context: StrategyContext, new: Object, old: Object) -> list[str]:
        return warn_of_reserved_name(new)


class _Allowances(Struct, frozen=True, kw_only=True):
    """The violations that an update may keep, because the old object has them."""

    side_effects: bool = False
    unknown_versions: bool = False
    same_names: bool = False
    invalid_values: bool = False
    same_conditions: bool = False


def _allowances(new: Sequence[Webhook], old: Sequence[Webhook] | None) -> _Allowances:
    if old is None:
        return _Allowances()
    names = [one.get("name") or "" for one in old]
    conditions = [[one.get("matchConditions") or [] for one in webhooks] for webhooks in (new, old)]
    selectors = [one[name] for one in old for name in SELECTORS if one.get(name) is not None]
    return _Allowances(
        side_effects=any(one.get("sideEffects") not in _NO_SIDE_EFFECTS for one in old),
        unknown_versions=any(_knows_no_version(one.get("admissionReviewVersions") or ()) for one in old),
        same_names=len(set(names)) < len(names),
        invalid_values=any(label_selectors.validate(one, "") for one in selectors),
        same_conditions=conditions[0] == conditions[1],
    )


def _knows_no_version(versions: Sequence[str]) -> bool:
    return bool(versions) and not set(versions) & set(_REVIEW_VERSIONS)


def _validate(new: Sequence[Webhook], old: Sequence[Webhook] | None, *, mutates: bool) -> list[FieldError]:
    allows, errors = _allowances(new, old), []
    seen: set[str] = set()
    for index, webhook in enumerate(new):
        path, name = f"webhooks[{index}]", webhook.get("name") or ""
        errors += _validate_webhook(webhook, path, allows, mutates=mutates)
        versions = webhook.get("admissionReviewVersions") or ()
        errors += _validate_versions(versions, f"{path}.admissionReviewVersions", allows)
        if name in seen and not allows.same_names:
            errors.append(field.duplicate(f"{path}.name", name))
        seen |= {name} - {""}
    return errors


def _validate_webhook(webhook: Webhook, path: str, allows: _Allowances, *, mutates: bool) -> list[FieldError]:
    errors = domains.validate_qualified(webhook.get("name") or "", f"{path}.name")
    for index, rule in enumerate(webhook.get("rules") or ()):
        errors += rules.validate(rule, f"{path}.rules[{index}]")
    errors += _validate_word(webhook, path, "failurePolicy", FAILURE_POLICIES)
    errors += _validate_word(webhook, path, "matchPolicy", MATCH_POLICIES)
    errors += _validate_side_effects(webhook, path, _SIDE_EFFECTS if allows.side_effects else _NO_SIDE_EFFECTS)
    seconds = webhook.get("timeoutSeconds")
    if seconds is not None and seconds not in _SECONDS:
        why = "the timeout value must be between 1 and 30 seconds"
        errors.append(field.invalid(f"{path}.timeoutSeconds", seconds, why))
    for name in SELECTORS:
        selector = webhook.get(name) or {}
        errors += label_selectors.validate(selector, f"{path}.{name}", allows_invalid_values=allows.invalid_values)
    if mutates:
        errors += _validate_word(webhook, path, "reinvocationPolicy", REINVOCATION_POLICIES)
    errors += _validate_client(webhook.get("clientConfig") or {}, f"{path}.clientConfig")
    if not allows.same_conditions:
        errors += expressions.validate_conditions(webhook.get("matchConditions") or (), f"{path}.matchConditions")
    return errors


def _validate_word(webhook: Webhook, path: str, name: str, supported: Sequence[str]) -> list[FieldError]:
    value = webhook.get(name)
    is_wrong = value is not None and value not in supported
    return [field.not_supported(f"{path}.{name}", value, supported)] if is_wrong else []


def _validate_side_effects(webhook: Webhook, path: str, allowed: Sequence[str]) -> list[FieldError]:
    if webhook.get("sideEffects") is None:
        return [field.required(f"{path}.sideEffects", f"must specify one of {', '.join(allowed)}")]
    return _validate_word(webhook, path, "sideEffects", allowed)


def _validate_client(client: Mapping[str, Any], path: str) -> list[FieldError]:
    url, service = client.get("url"), client.get("service")
    if (url is None) == (service is None):
        return [field.required(path, "exactly one of url or service is required")]
    if url is not None:
        return urls.validate_webhook_url(url, f"{path}.url")
    assert service is not None
    return urls.validate_webhook_service(service, f"{path}.service")


def _validate_versions(versions: Sequence[str], path: str, allows: _Allowances) -> list[FieldError]:
    known = ", ".join(_REVIEW_VERSIONS)
    if not versions:
        return [field.required(path, f"must specify one of {known}")]
    errors = []
    for index, version in enumerate(versions):
        here = f"{path}[{index}]"
        if version in versions[:index]:
            errors.append(field.invalid(here, version, "duplicate version"))
        else:
            errors += domains.validate_format(version, DNS1035_LABEL, here)
    if _knows_no_version(versions) and not allows.unknown_versions:
        errors.append(field.invalid(path, versions, f"must include at least one of {known}"))
    return errors
