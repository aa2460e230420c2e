"""ReplicaSets: keep a number of pods from one template."""

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.validation import values
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.kind import Kind, Scale
from aio_apiserver.registry.generic.strategy import Strategy, StrategyContext
from aio_apiserver.registry.groups.core.pods import pod_history, pod_spec, workload_rules
from aio_apiserver.registry.machinery.printing import formats
from aio_apiserver.registry.machinery.printing.columns import AGE, NAME, Column, table_of, value


class ReplicaSetStrategy(Strategy, frozen=True, kw_only=True):
    """The defaults and rules of replica sets. The default is one replica."""

    def default(self, obj: Object) -> None:
        spec = obj["spec"]
        pod_spec.default_template(spec["template"])
        spec.setdefault("replicas", 1)

    def validate(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        return super().validate(context, obj) + _validate_spec(obj["spec"], context)

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        errors = super().validate_update(context, new, old) + _validate_spec(new["spec"], context, old["spec"])
        return errors + workload_rules.validate_same_selector(new["spec"], old["spec"])

    def warnings_on_create(self, context: StrategyContext, obj: Object) -> list[str]:
        return workload_rules.warnings_on_create(obj)

    def warnings_on_update(self, context: StrategyContext, new: Object, old: Object) -> list[str]:
        return workload_rules.warnings_on_update(new, old)


def _validate_spec(spec: Object, context: StrategyContext, old: Object | None = None) -> list[FieldError]:
    errors = values.not_negative(spec, "spec", ("replicas", "minReadySeconds"))
    return errors + workload_rules.validate(spec, context, kind="deployment", owner="ReplicaSet", old=old)


_COLUMNS = table_of(
    NAME,
    (Column(name="Desired", type="integer", field="apps.v1.ReplicaSetSpec.replicas"), value("spec.replicas", 0)),
    (Column(name="Current", type="integer", field="apps.v1.ReplicaSetStatus.replicas"), value("status.replicas", 0)),
    (
        Column(name="Ready", type="integer", field="apps.v1.ReplicaSetStatus.readyReplicas"),
        value("status.readyReplicas", 0),
    ),
    AGE,
    *formats.containers("spec.template"),
    (
        Column(name="Selector", field="apps.v1.ReplicaSetSpec.selector", priority=1),
        formats.selector("spec.selector"),
    ),
)

REPLICASETS = Kind(
    group="apps",
    plural="replicasets",
    kind="ReplicaSet",
    short_names=("rs",),
    categories=("all",),
    strategy=ReplicaSetStrategy(has_status=True, has_generation=True),
    status_strategy=workload_rules.ReplicasStatusStrategy(),
    scale=Scale(),
    columns=_COLUMNS,
    gated={
        **pod_history.gated("spec.template.spec"),
        "status.terminatingReplicas": "DeploymentReplicaSetTerminatingReplicas",
    },
    errors=pod_history.ERRORS,
)
