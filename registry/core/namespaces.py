"""Namespaces: they carry their name as a label, begin Active, and wait for the `kubernetes` finalizer to go.

The finalizer stands in `spec.finalizers`, not in the metadata: only /finalize changes it.
"""

from dataclasses import dataclass

from registry.fields import text
from registry.kind import ALL_VERBS, Kind
from registry.strategy import StatusStrategy, Strategy, StrategyContext
from registry.validation import names
from storage.stored_object import Object

NAME_LABEL = "kubernetes.io/metadata.name"
FINALIZER = "kubernetes"


@dataclass(frozen=True, kw_only=True)
class NamespaceStrategy(Strategy):
    """What a namespace begins with and keeps."""

    def prepare_for_create(self, context: StrategyContext, obj: Object) -> None:
        finalizers = obj.setdefault("spec", {}).get("finalizers") or []
        if FINALIZER not in finalizers:
            obj["spec"]["finalizers"] = [*finalizers, FINALIZER]
        obj["status"] = {"phase": "Active"}

    def prepare_for_update(self, context: StrategyContext, new: Object, old: Object) -> None:
        super().prepare_for_update(context, new, old)
        new.setdefault("spec", {})["finalizers"] = (old.get("spec") or {}).get("finalizers")

    def canonicalize(self, obj: Object) -> None:
        metadata = obj["metadata"]
        metadata["labels"] = {**(metadata.get("labels") or {}), NAME_LABEL: metadata["name"]}


NAMESPACES = Kind(
    group="",
    plural="namespaces",
    kind="Namespace",
    is_namespaced=False,
    short_names=("ns",),
    verbs=tuple(verb for verb in ALL_VERBS if verb != "deletecollection"),
    strategy=NamespaceStrategy(has_status=True, check_name=names.is_dns_label),
    status_strategy=StatusStrategy(),
    returns_deleted_object=True,
    fields={"status.phase": text("status.phase")},
)
