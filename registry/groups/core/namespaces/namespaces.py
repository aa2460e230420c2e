"""Namespaces: their name as a label, the phase Active, and the finalizer `kubernetes` in spec.finalizers.

This finalizer is not in the metadata, and /finalize changes it. namespaces_deletion.py has the deletion.
"""

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.base.fields import text
from aio_apiserver.registry.base.validation import field, names, object_meta
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.kind import ALL_VERBS, Kind
from aio_apiserver.registry.generic.strategy import StatusStrategy, Strategy, StrategyContext
from aio_apiserver.registry.machinery.printing.columns import AGE, NAME, Column, table_of, value

NAME_LABEL = "kubernetes.io/metadata.name"
FINALIZER = "kubernetes"
ACTIVE, TERMINATING = "Active", "Terminating"

_FINALIZERS = "spec.finalizers"
_PHASE_DETAIL = "may only be '{}' if `deletionTimestamp` is {}empty"


class NamespaceStrategy(Strategy, frozen=True, kw_only=True):
    """The defaults and the rules of namespaces."""

    def default(self, obj: Object) -> None:
        if obj["metadata"].get("name"):
            _label(obj)

    def prepare_for_create(self, context: StrategyContext, obj: Object) -> None:
        finalizers = objects.get(obj, _FINALIZERS) or []
        if FINALIZER not in finalizers:
            objects.put(obj, _FINALIZERS, [*finalizers, FINALIZER])
        obj["status"] = {"phase": ACTIVE}

    def prepare_for_update(self, context: StrategyContext, new: Object, old: Object) -> None:
        super().prepare_for_update(context, new, old)
        objects.put(new, _FINALIZERS, objects.get(old, _FINALIZERS))

    def validate(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        errors = super().validate(context, obj)
        for name in objects.get(obj, _FINALIZERS) or ():
            errors += object_meta.validate_finalizer(name, _FINALIZERS)
        return errors

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        return self.validate_again(context, new) + super().validate_update(context, new, old)

    def canonicalize(self, obj: Object) -> None:
        _label(obj)

    def is_held(self, obj: Object) -> bool:
        return bool(objects.get(obj, _FINALIZERS))


def _label(obj: Object) -> None:
    metadata = obj["metadata"]
    metadata["labels"] = {**(metadata.get("labels") or {}), NAME_LABEL: metadata["name"]}


class NamespaceStatusStrategy(StatusStrategy, frozen=True, kw_only=True):
    """The phase must agree with the deletion timestamp. The namespace controller reports its conditions here."""

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        errors = super().validate_update(context, new, old)
        is_ending = bool(new["metadata"].get("deletionTimestamp"))
        wanted = TERMINATING if is_ending else ACTIVE
        phase = objects.get(new, "status.phase", "")
        if phase != wanted:
            detail = _PHASE_DETAIL.format(wanted, "not " if is_ending else "")
            errors.append(field.invalid("status.Phase", phase, detail))
        return errors

    def canonicalize(self, obj: Object) -> None:
        _label(obj)

    def is_held(self, obj: Object) -> bool:
        return bool(objects.get(obj, _FINALIZERS))


class NamespaceFinalizeStrategy(NamespaceStrategy, frozen=True, kw_only=True):
    """/finalize changes spec.finalizers; other updates keep them."""

    def prepare_for_update(self, context: StrategyContext, new: Object, old: Object) -> None:
        new["status"] = old.get("status")

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        errors = Strategy.validate_update(self, context, new, old)
        for index, name in enumerate(objects.get(new, _FINALIZERS) or ()):
            errors += object_meta.validate_finalizer(name, f"{_FINALIZERS}[{index}]")
        return errors


FINALIZE_STRATEGY = NamespaceFinalizeStrategy(check_name=names.is_dns_label)

_COLUMNS = table_of(NAME, (Column(name="Status", text="The status of the namespace"), value("status.phase")), AGE)

NAMESPACES = Kind(
    group="",
    plural="namespaces",
    kind="Namespace",
    resets={"finalize": ("status",)},
    is_namespaced=False,
    short_names=("ns",),
    verbs=tuple(verb for verb in ALL_VERBS if verb != "deletecollection"),
    strategy=NamespaceStrategy(has_status=True, check_name=names.is_dns_label),
    status_strategy=NamespaceStatusStrategy(),
    returns_deleted_object=True,
    hides_deleted_object=True,
    fields={"status.phase": text("status.phase")},
    columns=_COLUMNS,
)
