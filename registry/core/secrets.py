"""Secrets: data in base64; `stringData` is what clients write for convenience and never read back."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import orjson

from registry import objects
from registry.core import data
from registry.fields import text
from registry.kind import Kind
from registry.strategy import Strategy, StrategyContext
from registry.validation import field, object_meta
from registry.validation.field import FieldError
from storage.stored_object import Object

OPAQUE = "Opaque"
SERVICE_ACCOUNT_TOKEN = "kubernetes.io/service-account-token"  # noqa: S105 - the name of a type
_SERVICE_ACCOUNT_NAME = "kubernetes.io/service-account.name"

_REQUIRED_KEYS: Mapping[str, Sequence[str]] = {
    "kubernetes.io/dockercfg": (".dockercfg",),
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    "kubernetes.io/ssh-auth": ("ssh-privatekey",),
    "kubernetes.io/tls": ("tls.crt", "tls.key"),
}
"""The keys that a type demands."""
_JSON_TYPES = frozenset({"kubernetes.io/dockercfg", "kubernetes.io/dockerconfigjson"})
_BASIC_AUTH = "kubernetes.io/basic-auth"
_BASIC_AUTH_KEYS = ("username", "password")


@dataclass(frozen=True, kw_only=True)
class SecretStrategy(Strategy):
    """The type says which keys there must be, and never changes."""

    def prepare_for_create(self, context: StrategyContext, obj: Object) -> None:
        _settle(obj)

    def prepare_for_update(self, context: StrategyContext, new: Object, old: Object) -> None:
        if not new.get("type"):
            new["type"] = old.get("type", OPAQUE)
        _settle(new)

    def validate(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        values = obj.get("data") or {}
        errors = super().validate(context, obj) + data.validate_keys(values, "data")
        if data.bytes_in_base64(values) > data.LIMIT:
            errors.append(field.too_long("data", data.LIMIT))
        return errors + _validate_type(obj, values)

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        errors = super().validate_update(context, new, old)
        if new.get("type") != old.get("type"):
            errors.append(field.invalid("type", new.get("type", ""), object_meta.IMMUTABLE))
        return errors + data.validate_frozen(new, old, ("data",)) + self.validate(context, new)


def _settle(secret: Object) -> None:
    """Default the type, and take over what clients wrote in plain text."""
    if not secret.get("type"):
        secret["type"] = OPAQUE
    if plain := secret.pop("stringData", None):
        encoded = {name: base64.b64encode(value.encode()).decode() for name, value in plain.items()}
        secret["data"] = {**(secret.get("data") or {}), **encoded}


def _validate_type(secret: Object, values: Mapping[str, str]) -> list[FieldError]:
    secret_type = secret["type"]
    if secret_type == SERVICE_ACCOUNT_TOKEN:
        annotations = objects.get(secret, "metadata.annotations", {})
        path = f"metadata.annotations[{_SERVICE_ACCOUNT_NAME}]"
        return [] if annotations.get(_SERVICE_ACCOUNT_NAME) else [field.required(path)]
    if secret_type == _BASIC_AUTH:
        has_any = any(key in values for key in _BASIC_AUTH_KEYS)
        return [] if has_any else [field.required(f"data[{key}]") for key in _BASIC_AUTH_KEYS]
    missing = [key for key in _REQUIRED_KEYS.get(secret_type, ()) if key not in values]
    errors = [field.required(f"data[{key}]") for key in missing]
    if secret_type in _JSON_TYPES and not missing:
        errors += _validate_json(values, _REQUIRED_KEYS[secret_type][0])
    return errors


def _validate_json(values: Mapping[str, str], key: str) -> list[FieldError]:
    try:
        orjson.loads(base64.b64decode(values[key]))
    except ValueError as exc:
        return [field.invalid(f"data[{key}]", "<secret contents redacted>", str(exc))]
    return []


SECRETS = Kind(group="", plural="secrets", kind="Secret", strategy=SecretStrategy(), fields={"type": text("type")})
