"""Conversion validation: validates the conversion of a definition. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from aio_apiserver.registry.base.validation import field, names
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.groups.apiextensions.validation import webhook_clients

REVIEW_VERSIONS = ("v1", "v1beta1")
"""The versions of ConversionReview that this server supports."""

_STRATEGIES = ("None", "Webhook")


def validate(
    conversion: Mapping[str, Any] | None,
    path: str,
    *,
    is_preserving: bool = False,
    demands_known_review: bool,
    allows_bad_authorities: bool,
) -> list[FieldError]:
    """The errors of spec.conversion."""
    if conversion is None:
        return []
    strategy = conversion.get("strategy") or ""
    found = []
    if is_preserving and strategy != "None":
        found.append(field.invalid(f"{path}.strategy", strategy, "must be None if spec.preserveUnknownFields is true"))
    if not strategy:
        found.append(field.required(f"{path}.strategy"))
    elif strategy not in _STRATEGIES:
        found.append(field.not_supported(f"{path}.strategy", strategy, _STRATEGIES))
    webhook = conversion.get("webhook") or {}
    client, reviews = webhook.get("clientConfig"), webhook.get("conversionReviewVersions") or ()
    where = f"{path}.webhookClientConfig"
    if strategy != "Webhook":
        detail = "should not be set when strategy is not set to Webhook"
        if client is not None:
            found.append(field.forbidden(where, detail))
        if reviews:
            found.append(field.forbidden(f"{path}.conversionReviewVersions", detail))
        return found
    if client is None:
        found.append(field.required(where, "required when strategy is set to Webhook"))
    else:
        found += webhook_clients.validate(client, where, allows_bad_authorities=allows_bad_authorities)
    return found + _validate_reviews(reviews, f"{path}.conversionReviewVersions", demands_known_review)


def _validate_reviews(reviews: Sequence[str], path: str, demands_known: bool) -> list[FieldError]:
    if not reviews:
        return [field.required(path)]
    found = []
    for index, version in enumerate(reviews):
        if version in reviews[:index]:
            found.append(field.invalid(f"{path}[{index}]", version, "duplicate version"))
        else:
            wrong = names.DNS1035_LABEL.check(version)
            found += field.invalid_each(f"{path}[{index}]", version, wrong)
    if demands_known and not is_spoken(reviews):
        listed = ", ".join(REVIEW_VERSIONS)
        found.append(field.invalid(path, list(reviews), f"must include at least one of {listed}"))
    return found


def is_spoken(reviews: Sequence[str]) -> bool:
    """Whether the server supports one of the ConversionReview versions."""
    return any(version in REVIEW_VERSIONS for version in reviews)
