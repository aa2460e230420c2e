"""StorageClasses: how a provisioner creates volumes for claims."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.validation import field, names, node_labels, object_meta
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.error_history import showing, since, until
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.strategy import Strategy, StrategyContext
from aio_apiserver.registry.groups.storage import parameters
from aio_apiserver.registry.machinery.printing import formats
from aio_apiserver.registry.machinery.printing.columns import AGE, NAME, Column, table_of, value

IS_DEFAULT = "storageclass.kubernetes.io/is-default-class"
BETA_IS_DEFAULT = "storageclass.beta.kubernetes.io/is-default-class"

_RECLAIM_POLICIES = ("Delete", "Retain")
_BINDING_MODES = ("Immediate", "WaitForFirstConsumer")
_FROZEN: tuple[tuple[str, Any, Any], ...] = (
    ("parameters", {}, None),
    ("provisioner", "", ""),
    ("reclaimPolicy", None, None),
    ("volumeBindingMode", None, None),
)
"""The immutable fields, the value that equals a missing one, and the value that errors show for a missing one."""


class ClassRank(NamedTuple):
    """The facts of a StorageClass that choose the default."""

    name: str
    created: str
    is_default: bool

    @classmethod
    def of(cls, obj: Object) -> "ClassRank":
        metadata = obj["metadata"]
        annotations = metadata.get("annotations") or {}
        is_default = any(annotations.get(name) == "true" for name in (IS_DEFAULT, BETA_IS_DEFAULT))
        return cls(metadata["name"], metadata["creationTimestamp"], is_default)


def default_of(classes: Iterable[ClassRank]) -> str:
    """The name of the default class, the newest of several; empty when there is none."""
    defaults = [one for one in classes if one.is_default]
    newest = max((one.created for one in defaults), default="")
    return min((one.name for one in defaults if one.created == newest), default="")


class StorageClassStrategy(Strategy, frozen=True, kw_only=True):
    """The rules of storage classes. Mount options, topologies and allowVolumeExpansion can change."""

    def validate(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        errors = super().validate(context, obj)
        errors += parameters.validate_provisioner(obj.get("provisioner", ""), "provisioner")
        errors += parameters.validate_parameters(obj.get("parameters") or {}, "parameters", is_required=False)
        policy, mode = obj.get("reclaimPolicy"), obj.get("volumeBindingMode")
        if policy and policy not in _RECLAIM_POLICIES:
            errors.append(field.not_supported("reclaimPolicy", policy, _RECLAIM_POLICIES))
        if mode is None:
            errors.append(field.required("volumeBindingMode"))
        elif mode not in _BINDING_MODES:
            errors.append(field.not_supported("volumeBindingMode", mode, _BINDING_MODES))
        return errors + _validate_topologies(obj.get("allowedTopologies") or ())

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        errors = self.validate_again(context, new) + super().validate_update(context, new, old)
        return errors + [
            field.invalid(name, _sorted(new.get(name, nothing)), object_meta.IMMUTABLE)
            for name, absent, nothing in _FROZEN
            if new.get(name, absent) != old.get(name, absent)
        ]

    def warnings_on_create(self, context: StrategyContext, obj: Object) -> list[str]:
        return [
            f"allowedTopologies[{number}].matchLabelExpressions[{index}].key: {node_labels.DEPRECATED[key]}"
            for number, term in enumerate(obj.get("allowedTopologies") or ())
            for index, expression in enumerate(term.get("matchLabelExpressions") or ())
            if (key := expression.get("key")) in node_labels.DEPRECATED
        ]

    def warnings_on_update(self, context: StrategyContext, new: Object, old: Object) -> list[str]:
        return self.warnings_on_create(context, new)


def _sorted(value: Any) -> Any:
    """Maps are shown with sorted keys, as Go prints them."""
    return dict(sorted(value.items())) if isinstance(value, Mapping) else value


def _validate_topologies(terms: Sequence[Mapping[str, Any]]) -> list[FieldError]:
    errors = []
    # As in kube-apiserver, an empty term counts as a duplicate, once for each term in the list.
    seen: list[Mapping[str, frozenset[str]]] = []
    for index, term in enumerate(terms):
        path = f"allowedTopologies[{index}].matchLabelExpressions"
        errors += _validate_term(term, path)
        values = {
            one.get("key", ""): frozenset(one.get("values") or ()) for one in term.get("matchLabelExpressions") or ()
        }
        repeated = len(terms) if not values else 0
        repeated += sum(values == other for other in seen)
        errors += [field.duplicate(path, "")] * repeated
        seen.append(values)
    return errors


def _validate_term(term: Mapping[str, Any], path: str) -> list[FieldError]:
    errors = []
    keys = set()
    for index, expression in enumerate(term.get("matchLabelExpressions") or ()):
        place, key, values = f"{path}[{index}]", expression.get("key", ""), expression.get("values") or ()
        if not values:
            errors.append(field.required(f"{place}.values"))
        errors += [
            field.duplicate(f"{place}.values[{number}]", value)
            for number, value in enumerate(values)
            if value in values[:number]
        ]
        errors += field.invalid_each(f"{place}.key", key, names.check_qualified_name(key))
        if key in keys:
            errors.append(field.duplicate(f"{place}.key", key))
        keys.add(key)
    return errors


_COLUMNS = table_of(
    (NAME[0], formats.marked_name(IS_DEFAULT, BETA_IS_DEFAULT)),
    (Column(name="Provisioner", field="storage.v1.StorageClass.provisioner"), value("provisioner")),
    (Column(name="ReclaimPolicy", field="storage.v1.StorageClass.reclaimPolicy"), value("reclaimPolicy", "Delete")),
    (
        Column(name="VolumeBindingMode", field="storage.v1.StorageClass.volumeBindingMode"),
        value("volumeBindingMode", "Immediate"),
    ),
    (
        Column(name="AllowVolumeExpansion", field="storage.v1.StorageClass.allowVolumeExpansion"),
        value("allowVolumeExpansion", False),
    ),
    AGE,
)

_ERRORS = (
    since(
        (1, 37), "parameters|provisioner|reclaimPolicy|volumeBindingMode", showing(None), detail=object_meta.IMMUTABLE
    ),
    until(
        (1, 36),
        "parameters|provisioner|reclaimPolicy",
        lambda error: (field.forbidden(error.path, f"updates to {error.path} are forbidden."),),
        detail=object_meta.IMMUTABLE,
    ),
)

STORAGECLASSES = Kind(
    group="storage.k8s.io",
    plural="storageclasses",
    kind="StorageClass",
    is_namespaced=False,
    short_names=("sc",),
    strategy=StorageClassStrategy(),
    returns_deleted_object=True,
    columns=_COLUMNS,
    errors=_ERRORS,
)
