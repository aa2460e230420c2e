"""ReplicationControllers: the selector and the labels default to the labels of the pod template."""

from msgspec.structs import replace

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.base.fields import count
from aio_apiserver.registry.base.validation import field, names, object_meta, values
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.kind import Kind, Scale
from aio_apiserver.registry.generic.strategy import GarbageCollection, Strategy, StrategyContext
from aio_apiserver.registry.groups.core.pods import pod_history, pod_spec, workload_rules
from aio_apiserver.registry.machinery.printing import formats
from aio_apiserver.registry.machinery.printing.columns import AGE, NAME, Column, table_of, value

_LONG_NAME = replace(names.DNS1123_SUBDOMAIN, unit="bytes")


class ReplicationControllerStrategy(Strategy, frozen=True, kw_only=True):
    """The defaults and rules of replication controllers."""

    def default(self, obj: Object) -> None:
        pod_spec.default_template(obj["spec"].get("template"))
        labels = objects.get(obj, "spec.template.metadata.labels")
        if not labels:
            return
        if not obj["spec"].get("selector"):
            obj["spec"]["selector"] = dict(labels)
        _default_labels(obj)

    def validate(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        errors = object_meta.validate(obj["metadata"], is_namespaced=True, check_name=_check_name)
        return errors + super().validate(context, obj) + _validate_spec(obj["spec"], context)

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        return super().validate_update(context, new, old) + _validate_spec(new["spec"], context, old["spec"])

    def warnings_on_create(self, context: StrategyContext, obj: Object) -> list[str]:
        return workload_rules.warnings_on_create(obj)

    def warnings_on_update(self, context: StrategyContext, new: Object, old: Object) -> list[str]:
        """The warnings are about the old template, as in kube-apiserver."""
        return workload_rules.warnings_on_update(old, new)


class ReplicationControllerStatusStrategy(workload_rules.ReplicasStatusStrategy, frozen=True, kw_only=True):
    """The status strategy. As defaulting does for other requests, labels default to those of the template."""

    def canonicalize(self, obj: Object) -> None:
        _default_labels(obj)


def _default_labels(obj: Object) -> None:
    labels = objects.get(obj, "spec.template.metadata.labels")
    if labels and not obj["metadata"].get("labels"):
        obj["metadata"]["labels"] = dict(labels)


def _check_name(name: str, is_prefix: bool) -> list[str]:
    """The messages for a name. A prefix is not checked; the generated name is."""
    return [] if is_prefix else _LONG_NAME.check(name)


def _validate_spec(spec: Object, context: StrategyContext, old: Object | None = None) -> list[FieldError]:
    errors = values.not_negative(spec, "spec", ("minReadySeconds",))
    if not spec.get("selector"):
        errors.append(field.required("spec.selector"))
    errors += values.not_negative(spec, "spec", ("replicas",))
    template = spec.get("template")
    if template is None:
        return [*errors, field.required("spec.template")]
    old_template = old.get("template") if old else None
    errors += workload_rules.validate_labels(template, spec.get("selector") or {}, "spec.template")
    return errors + workload_rules.validate_template(template, context, owner="ReplicationController", old=old_template)


_COLUMNS = table_of(
    NAME,
    (
        Column(name="Desired", type="integer", field="core.v1.ReplicationControllerSpec.replicas"),
        value("spec.replicas", 0),
    ),
    (
        Column(name="Current", type="integer", field="core.v1.ReplicationControllerStatus.replicas"),
        value("status.replicas", 0),
    ),
    (
        Column(name="Ready", type="integer", field="core.v1.ReplicationControllerStatus.readyReplicas"),
        value("status.readyReplicas", 0),
    ),
    AGE,
    *formats.containers("spec.template"),
    (
        Column(name="Selector", field="core.v1.ReplicationControllerSpec.selector", priority=1),
        formats.labels("spec.selector"),
    ),
)

REPLICATIONCONTROLLERS = Kind(
    group="",
    plural="replicationcontrollers",
    kind="ReplicationController",
    stored_under="controllers",
    short_names=("rc",),
    categories=("all",),
    strategy=ReplicationControllerStrategy(
        has_status=True,
        has_generation=True,
        garbage_collection=GarbageCollection.ORPHAN_DEPENDENTS,
        looks_at_metadata=False,
    ),
    status_strategy=ReplicationControllerStatusStrategy(),
    scale=Scale(),
    fields={"status.replicas": count("status.replicas")},
    columns=_COLUMNS,
    gated=pod_history.gated("spec.template.spec"),
    errors=pod_history.ERRORS,
)
