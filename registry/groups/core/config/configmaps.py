"""ConfigMaps: a ConfigMap keeps text (data) and bytes (binaryData) by key."""

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.validation import field
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.strategy import Strategy, StrategyContext
from aio_apiserver.registry.groups.core.config import data
from aio_apiserver.registry.machinery.printing.columns import AGE, NAME, Column, count, table_of


class ConfigMapStrategy(Strategy, frozen=True, kw_only=True):
    """A key may appear in data or in binaryData, but not in both."""

    def validate(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        texts, binaries = obj.get("data") or {}, obj.get("binaryData") or {}
        errors = super().validate(context, obj)
        for key in texts:
            errors += field.invalid_each(f"data[{key}]", key, data.check_key(key))
            if key in binaries:
                errors.append(field.invalid(f"data[{key}]", key, "duplicate of key present in binaryData"))
        errors += data.validate_keys(binaries, "binaryData")
        size = sum(len(value.encode()) for value in texts.values()) + data.bytes_in_base64(binaries)
        if size > data.LIMIT:
            errors.append(field.too_long("[]", data.LIMIT))
        return errors

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        errors = super().validate_update(context, new, old)
        return errors + data.validate_frozen(new, old, ("data", "binaryData")) + self.validate_again(context, new)


_COLUMNS = table_of(
    NAME,
    (Column(name="Data", field="core.v1.ConfigMap.data"), count("data", "binaryData")),
    AGE,
)

CONFIGMAPS = Kind(
    group="", plural="configmaps", kind="ConfigMap", short_names=("cm",), strategy=ConfigMapStrategy(), columns=_COLUMNS
)
