"""Pods: defaults and rules of pods. A pod begins as Pending, and its deletion is graceful once it has a node."""

from collections.abc import Iterator, Mapping

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.base.fields import first_of, flag, nothing, text
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.options import DeleteOptions
from aio_apiserver.registry.generic.strategy import Strategy, StrategyContext
from aio_apiserver.registry.groups.core.pods import pod_history, pod_spec, pod_warnings, pods_columns
from aio_apiserver.registry.groups.core.pods.parts import app_armor, pod_resources
from aio_apiserver.registry.groups.core.pods.pods_status import PodStatusStrategy
from aio_apiserver.registry.groups.core.pods.validation import allowances, options, pod, updates

_TERMINAL_PHASES = frozenset({"Failed", "Succeeded"})
_GATED = {
    "type": "PodScheduled",
    "status": "False",
    "reason": "SchedulingGated",
    "message": "Scheduling is blocked due to non-empty scheduling gates",
}


class PodStrategy(Strategy, frozen=True, kw_only=True):
    """The defaults, the first status and the graceful deletion of pods."""

    def default(self, obj: Object) -> None:
        spec = obj["spec"]
        pod_spec.default(spec)
        pod_spec.drop_old_annotations(obj)
        if (spec.get("terminationGracePeriodSeconds") or 0) < 0:
            spec["terminationGracePeriodSeconds"] = 1
        pod_resources.default_requests(spec)
        spec.setdefault("enableServiceLinks", True)
        if spec.get("hostNetwork"):
            _default_host_ports(spec)
        if status := obj.get("status"):
            _settle_addresses(status)

    def prepare_for_create(self, context: StrategyContext, obj: Object) -> None:
        spec, given = obj["spec"], objects.get(obj, "status.qosClass")
        super().prepare_for_create(context, obj)
        obj["status"] = {"phase": "Pending", "qosClass": given or pod_resources.qos_class(spec)}
        if spec.get("schedulingGates"):
            obj["status"]["conditions"] = [{**_GATED, "lastTransitionTime": obj["metadata"]["creationTimestamp"]}]
        labels = obj["metadata"].get("labels") or {}
        for term in _selecting_terms(spec):
            _apply_label_keys(term, labels)
        _apply_app_armor(context, obj)

    def is_changed(self, new: Object, old: Object) -> bool:
        return not updates.is_same_spec(new["spec"], old["spec"])

    def validate(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        return super().validate(context, obj) + pod.validate_new(
            obj, options=allowances.options_for(None, is_pod=True, context=context)
        )

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        options = self.options(context, old)
        errors = self.validate_changed_metadata(context, new, old)
        errors += pod.validate(new, options=options) + pod.validate_annotations(new, old, options=options)
        return errors + updates.validate(new["spec"], old["spec"], self.version)

    def validate_changed_metadata(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        """The metadata errors of a changed pod. As in kube-apiserver, the rules for new pods are applied as well."""
        errors = super().validate_update(context, new, old) + self.validate_metadata_again(new)
        return errors + Strategy.validate(self, context, new)

    def options(self, context: StrategyContext, old: Object) -> "options.PodOptions":
        """The validation options for an update. They allow the old pod's violations of newer rules."""
        return allowances.options_for(old["spec"], old["metadata"], is_pod=True, context=context)

    def warnings_on_create(self, context: StrategyContext, obj: Object) -> list[str]:
        found = pod_warnings.warn_of_name(obj["metadata"]["name"], "the Pod's hostname")
        return found + pod_warnings.pod_warnings(obj)

    def check_graceful_delete(self, obj: Object, options: DeleteOptions) -> int | None:
        """The grace period: 0 for a pod without a node or in a terminal phase."""
        spec = obj["spec"]
        if not spec.get("nodeName") or objects.get(obj, "status.phase") in _TERMINAL_PHASES:
            return 0
        period: int | None = options.grace_period_seconds
        if period is None:
            period = spec.get("terminationGracePeriodSeconds") or 0
        return 1 if period < 0 else period


def _default_host_ports(spec: Object) -> None:
    """On the host network, give each container port the same host port."""
    for name in ("containers", "initContainers"):
        for container in spec.get(name) or ():
            for port in container.get("ports") or ():
                if not port.get("hostPort") and port.get("containerPort"):
                    port["hostPort"] = port["containerPort"]


def _settle_addresses(status: Object) -> None:
    """Make `podIP` equal to the first of `podIPs`. Where a client sends both, `podIP` wins."""
    addresses = status.get("podIPs") or []
    single = status.get("podIP")
    if single and (not addresses or addresses[0].get("ip") != single):
        status["podIPs"] = [{"ip": single}]
    elif addresses and addresses[0].get("ip"):
        status["podIP"] = addresses[0]["ip"]


def _selecting_terms(spec: Object) -> Iterator[Object]:
    """The affinity terms and spread constraints of a pod, which select pods by label keys."""
    affinity = spec.get("affinity") or {}
    for name in ("podAffinity", "podAntiAffinity"):
        rules = affinity.get(name) or {}
        for weighted in rules.get("preferredDuringSchedulingIgnoredDuringExecution") or ():
            yield weighted.get("podAffinityTerm") or {}
        yield from rules.get("requiredDuringSchedulingIgnoredDuringExecution") or ()
    yield from spec.get("topologySpreadConstraints") or ()


def _apply_label_keys(term: Object, labels: Mapping[str, str]) -> None:
    """Add expressions for matchLabelKeys and mismatchLabelKeys, with the pod's own label values."""
    selector = term.get("labelSelector")
    if selector is None:
        return
    for member, operator in (("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn")):
        for key in term.get(member) or ():
            if key in labels:
                expression = {"key": key, "operator": operator, "values": [labels[key]]}
                selector["matchExpressions"] = [*(selector.get("matchExpressions") or ()), expression]


def _apply_app_armor(context: StrategyContext, obj: Object) -> None:
    """Copy AppArmor annotations to the fields, and warn that the annotations are deprecated."""
    spec, annotations = obj["spec"], obj["metadata"].get("annotations") or {}
    if not annotations or objects.get(spec, "os.name") == "windows":
        return
    of_pod = objects.get(spec, "securityContext.appArmorProfile")
    for container in pod_spec.containers(spec):
        key = app_armor.PREFIX + container.get("name", "")
        if key not in annotations or objects.get(container, "securityContext.appArmorProfile") is not None:
            continue
        profile = app_armor.profile_of(annotations[key])
        if profile is not None and profile == of_pod:
            continue
        if profile is not None:
            objects.put(container, "securityContext.appArmorProfile", dict(profile))
        context.warn(f"metadata.annotations[{key}]: {app_armor.DEPRECATED}")


PODS = Kind(
    group="",
    plural="pods",
    kind="Pod",
    resets={"status": ("spec", "metadata.deletionTimestamp", "metadata.ownerReferences")},
    short_names=("po",),
    categories=("all",),
    strategy=PodStrategy(has_status=True, has_generation=True),
    status_strategy=PodStatusStrategy(),
    returns_deleted_object=True,
    fields={
        "spec.nodeName": text("spec.nodeName"),
        "spec.restartPolicy": text("spec.restartPolicy"),
        "spec.schedulerName": text("spec.schedulerName"),
        "spec.serviceAccountName": text("spec.serviceAccountName"),
        "spec.hostNetwork": flag("spec.hostNetwork"),
        "status.phase": text("status.phase"),
        "status.podIP": first_of("status.podIPs", "ip"),
        "status.podIPs": nothing,
        "status.nominatedNodeName": text("status.nominatedNodeName"),
    },
    field_aliases={"spec.host": "spec.nodeName"},
    triggers=("spec.nodeName",),
    columns=pods_columns.COLUMNS,
    gated={**pod_history.gated("spec"), **pod_history.GATED_STATUS},
    errors=pod_history.ERRORS,
)
