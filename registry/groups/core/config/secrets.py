"""Secrets: a Secret keeps base64 data by key. `stringData` can be written as plain text and is not returned."""

import base64
from collections.abc import Mapping, Sequence

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.base.fields import text
from aio_apiserver.registry.base.golang import json_texts
from aio_apiserver.registry.base.validation import field, object_meta
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.strategy import Strategy, StrategyContext
from aio_apiserver.registry.groups.core.config import data, key_pairs
from aio_apiserver.registry.machinery.printing.columns import AGE, NAME, Column, count, table_of, value
from aio_apiserver.registry.machinery.schema.scalars import json_type

OPAQUE = "Opaque"
SERVICE_ACCOUNT_TOKEN = "kubernetes.io/service-account-token"  # noqa: S105 - the name of a type
_SERVICE_ACCOUNT_NAME = "kubernetes.io/service-account.name"

_TLS = "kubernetes.io/tls"
_SSH_AUTH = "kubernetes.io/ssh-auth"
_SSH_KEY = "ssh-privatekey"
_REQUIRED_KEYS: Mapping[str, Sequence[str]] = {
    "kubernetes.io/dockercfg": (".dockercfg",),
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    _TLS: ("tls.crt", "tls.key"),
}
"""The keys that a type of secret requires."""
_JSON_TYPES = frozenset({"kubernetes.io/dockercfg", "kubernetes.io/dockerconfigjson"})
_REDACTED = "<secret contents redacted>"
_BASIC_AUTH = "kubernetes.io/basic-auth"
_BASIC_AUTH_KEYS = ("username", "password")


class SecretStrategy(Strategy, frozen=True, kw_only=True):
    """The rules of secrets. The type is immutable and decides which keys are required."""

    def default(self, obj: Object) -> None:
        if plain := obj.pop("stringData", None):
            encoded = {name: base64.b64encode(value.encode()).decode() for name, value in plain.items()}
            obj["data"] = {**(obj.get("data") or {}), **encoded}

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
        return errors + data.validate_frozen(new, old, ("data",)) + self.validate_again(context, new)

    def warnings_on_create(self, context: StrategyContext, obj: Object) -> list[str]:
        if obj.get("type") != _TLS:
            return []
        values = obj.get("data") or {}
        found = key_pairs.describe(*(base64.b64decode(values.get(name) or "") for name in _REQUIRED_KEYS[_TLS]))
        return [found] if found else []

    def warnings_on_update(self, context: StrategyContext, new: Object, old: Object) -> list[str]:
        return self.warnings_on_create(context, new)


def _validate_type(secret: Object, values: Mapping[str, str | None]) -> list[FieldError]:
    secret_type = secret.get("type", "")
    if secret_type == SERVICE_ACCOUNT_TOKEN:
        annotations = objects.get(secret, "metadata.annotations", {})
        path = f"metadata.annotations[{_SERVICE_ACCOUNT_NAME}]"
        return [] if annotations.get(_SERVICE_ACCOUNT_NAME) else [field.required(path)]
    if secret_type == _BASIC_AUTH:
        has_any = any(key in values for key in _BASIC_AUTH_KEYS)
        return [] if has_any else [field.required(f"data[{key}]") for key in _BASIC_AUTH_KEYS]
    if secret_type == _SSH_AUTH:
        return [] if values.get(_SSH_KEY) else [field.required(f"data[{_SSH_KEY}]")]
    missing = [key for key in _REQUIRED_KEYS.get(secret_type, ()) if key not in values]
    errors = [field.required(f"data[{key}]") for key in missing]
    if secret_type in _JSON_TYPES and not missing:
        key = _REQUIRED_KEYS[secret_type][0]
        errors += _validate_json(base64.b64decode(values[key] or ""), f"data[{key}]")
    return errors


def _validate_json(text: bytes, path: str) -> list[FieldError]:
    try:
        value = json_texts.value_of(text)
    except ValueError as exc:
        return [field.invalid(path, _REDACTED, str(exc))]
    if isinstance(value, dict | None):
        return []
    wrong = f"json: cannot unmarshal {json_type(value)} into Go value of type map[string]interface {{}}"
    return [field.invalid(path, _REDACTED, wrong)]


_COLUMNS = table_of(
    NAME,
    (Column(name="Type", field="core.v1.Secret.type"), value("type")),
    (Column(name="Data", field="core.v1.Secret.data"), count("data")),
    AGE,
)

SECRETS = Kind(
    group="",
    plural="secrets",
    kind="Secret",
    strategy=SecretStrategy(),
    fields={"type": text("type")},
    columns=_COLUMNS,
)
