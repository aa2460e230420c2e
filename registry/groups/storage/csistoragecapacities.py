"""CSIStorageCapacities: the free capacity of a driver for a storage class in a part of the cluster."""

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.golang import quantity
from aio_apiserver.registry.base.validation import field, internal, label_selectors, names, node_labels, object_meta
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.strategy import Strategy, StrategyContext
from aio_apiserver.registry.machinery.printing.columns import BY_TIME


class CSIStorageCapacityStrategy(Strategy, frozen=True, kw_only=True):
    """The rules of capacities. Class and topology are immutable."""

    def validate(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        return super().validate(context, obj) + _validate(obj, None)

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        metadata = new["metadata"]
        errors = object_meta.validate(metadata, is_namespaced=True, check_name=self.check_name)
        errors += object_meta.validate_builtin_finalizers(metadata.get("finalizers") or ())
        errors += _validate(new, old) + super().validate_update(context, new, old)
        for name, empty in (("nodeTopology", None), ("storageClassName", "")):
            before, after = (internal.meta(one.get(name, empty)) for one in (old, new))
            if before != after:
                errors.append(field.invalid(name, after, object_meta.IMMUTABLE))
        return errors

    def warnings_on_create(self, context: StrategyContext, obj: Object) -> list[str]:
        return node_labels.warn_of_selector(obj.get("nodeTopology"), "nodeTopology")

    def warnings_on_update(self, context: StrategyContext, new: Object, old: Object) -> list[str]:
        return self.warnings_on_create(context, new)


def _validate(obj: Object, old: Object | None) -> list[FieldError]:
    topology, storage_class = obj.get("nodeTopology"), obj.get("storageClassName", "")
    before = (old or {}).get("nodeTopology")
    is_lenient = before is not None and bool(label_selectors.validate(before, ""))
    errors = []
    if topology is not None:
        errors += label_selectors.validate(topology, "nodeTopology", allows_invalid_values=is_lenient)
    messages = names.is_dns_subdomain(storage_class, False)
    errors += field.invalid_each("storageClassName", storage_class, messages)
    capacity = obj.get("capacity")
    if capacity is not None and quantity.parse(capacity).digits < 0:
        errors.append(field.invalid("capacity", capacity, "must be greater than or equal to 0"))
    return errors


CSISTORAGECAPACITIES = Kind(
    group="storage.k8s.io",
    plural="csistoragecapacities",
    kind="CSIStorageCapacity",
    strategy=CSIStorageCapacityStrategy(allows_unconditional_update=False),
    columns=BY_TIME,
)
