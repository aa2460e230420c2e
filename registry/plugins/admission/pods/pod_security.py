"""PodSecurity: enforces the Pod Security Standard that the labels of a namespace choose.

Pods are refused. Objects with a pod template are admitted, with a warning about their pods. When a namespace becomes
stricter, its pods stay, and the client is warned about pods that violate the new level. Must hold: an update that
changes no relevant part of a pod is not checked again.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from aio_apiserver.base.clock import Clock
from aio_apiserver.base.unstructured import Object
from aio_apiserver.base.yielding import in_turns
from aio_apiserver.registry.base import errors, objects
from aio_apiserver.registry.base.deferred import Deferred
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.names import GroupKind, GroupResource
from aio_apiserver.registry.base.validation.errors import invalid_of
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.access.authorizer import joined
from aio_apiserver.registry.generic.admission.interface import Attributes, Operation, Plugin
from aio_apiserver.registry.generic.lookups import Lookup, as_stored
from aio_apiserver.registry.generic.resource import resource_of
from aio_apiserver.registry.generic.rest import Foundation
from aio_apiserver.registry.groups.apps.daemonsets import DAEMONSETS
from aio_apiserver.registry.groups.apps.deployments import DEPLOYMENTS
from aio_apiserver.registry.groups.apps.replicasets import REPLICASETS
from aio_apiserver.registry.groups.apps.statefulsets import STATEFULSETS
from aio_apiserver.registry.groups.batch.cronjobs import CRONJOBS
from aio_apiserver.registry.groups.batch.jobs import JOBS
from aio_apiserver.registry.groups.core.namespaces.namespaces import NAMESPACES
from aio_apiserver.registry.groups.core.pods.pods import PODS as POD_KIND
from aio_apiserver.registry.groups.core.pods.podtemplates import PODTEMPLATES
from aio_apiserver.registry.groups.core.pods.replicationcontrollers import REPLICATIONCONTROLLERS
from aio_apiserver.registry.plugins.admission.pod_writes import PODS
from aio_apiserver.registry.plugins.admission.pods import pod_security_configuration
from aio_apiserver.registry.plugins.admission.pods.pod_security_configuration import Configuration
from aio_apiserver.registry.plugins.podsecurity.metrics import PodSecurityMetrics, Requested
from aio_apiserver.registry.plugins.podsecurity.policies import PREFIX, PRIVILEGED, NamespacePolicy, Standard, policy_of
from aio_apiserver.storage.interface import Reader

if TYPE_CHECKING:
    from aio_apiserver.registry.plugins.podsecurity import checks
else:
    checks = Deferred("aio_apiserver.registry.plugins.podsecurity.checks")

_NAMESPACES = NAMESPACES.resource
_TEMPLATES: Mapping[GroupResource, str] = {
    REPLICATIONCONTROLLERS.resource: "spec.template",
    PODTEMPLATES.resource: "template",
    REPLICASETS.resource: "spec.template",
    DEPLOYMENTS.resource: "spec.template",
    STATEFULSETS.resource: "spec.template",
    DAEMONSETS.resource: "spec.template",
    JOBS.resource: "spec.template",
    CRONJOBS.resource: "spec.jobTemplate.spec.template",
}
"""The path of the pod template, by resource."""
_UNJUDGED = frozenset({"exec", "attach", "binding", "eviction", "log", "portforward", "proxy", "status"})
_OPERATIONS = {operation: operation.value.lower() for operation in Operation}
"""Their names in the metrics."""
"""Subresources whose writes change nothing that the standards check."""
_ENFORCED, _VIOLATIONS, _EXEMPT, _ERROR = (
    f"{PREFIX}{name}" for name in ("enforce-policy", "audit-violations", "exempt", "error")
)
"""The keys of audit annotations."""
_MOST_PODS = 3000
_TIME_LIMIT = 1.0


class _Labelled(NamedTuple):
    """The policy in the labels of a namespace, and the errors in these labels."""

    policy: NamespacePolicy
    errors: Sequence[FieldError] = ()


_FREE = _Labelled(NamespacePolicy())
"""The policy of exempt requests."""


def make(given: Foundation) -> "PodSecurity":
    """The plugin as it is configured. Raises ValueError."""
    configuration = pod_security_configuration.read(given.config.admission_configuration.get(PodSecurity.name))
    namespaces, pods = (given.storage_for(resource_of(kind)) for kind in (NAMESPACES, POD_KIND))
    return PodSecurity(
        namespaces,
        pods,
        given.clock.patience,
        configuration=configuration,
        metrics=given.metrics.of(PodSecurityMetrics),
    )


class PodSecurity(Plugin):
    """Reads namespaces at any revision that the cache has."""

    name = "PodSecurity"
    operations = frozenset({Operation.CREATE, Operation.UPDATE})
    resources = frozenset({PODS, _NAMESPACES, *_TEMPLATES})

    def __init__(
        self,
        namespaces: Reader,
        pods: Reader,
        clock: Clock,
        *,
        configuration: Configuration,
        metrics: PodSecurityMetrics,
    ) -> None:
        self._namespaces = Lookup(namespaces, _NAMESPACES, self._labelled)
        self._pods = Lookup(pods, PODS, as_stored)
        self._clock = clock
        self._configuration = configuration
        self._metrics = metrics

    async def validate(self, attributes: Attributes) -> None:
        if attributes.resource == PODS:
            await self._validate_pod(attributes)
        elif attributes.subresource:
            return
        elif attributes.resource == _NAMESPACES:
            await self._validate_namespace(attributes)
        elif attributes.resource in _TEMPLATES:
            await self._warn_of_controller(attributes)

    def _labelled(self, namespace: Object) -> _Labelled:
        return _Labelled(*policy_of(namespace["metadata"].get("labels") or {}, self._configuration.defaults))

    async def _policy_for(self, attributes: Attributes) -> _Labelled | None:
        """The policy for a write; None when its namespace does not exist."""
        exempt = self._configuration
        if attributes.namespace in exempt.namespaces:
            self._exempt(attributes, "namespace")
            return _FREE
        if attributes.user.name in exempt.usernames:
            self._exempt(attributes, "user")
            return _FREE
        found = await self._namespaces.get(attributes.namespace)
        if found is None:
            self._metrics.failed(_requested(attributes), is_fatal=True)
        return found

    def _exempt(self, attributes: Attributes, why: str) -> None:
        attributes.annotate(_EXEMPT, why)
        self._metrics.exempted(_requested(attributes))

    async def _validate_pod(self, attributes: Attributes) -> None:
        if attributes.subresource in _UNJUDGED or attributes.obj is None:
            return
        found = await self._policy_for(attributes)
        if found is None:
            why = f"failed to lookup namespace {quote(attributes.namespace)}"
            attributes.annotate(_ERROR, why)
            raise errors.InternalError(why)
        if found.policy.is_privileged and not found.errors:
            if found is not _FREE:
                attributes.annotate(_ENFORCED, str(found.policy.enforce))
                self._metrics.judged(found.policy.enforce, "enforce", _requested(attributes), is_allowed=True)
            return
        spec = attributes.obj["spec"]
        if attributes.old is not None and not _is_significant(spec, attributes.old["spec"]):
            return
        self._judge(attributes, found, attributes.obj, is_pod=True)

    async def _warn_of_controller(self, attributes: Attributes) -> None:
        assert attributes.obj is not None
        found = await self._policy_for(attributes)
        if found is None:
            attributes.annotate(_ERROR, f"failed to lookup namespace {quote(attributes.namespace)}")
            return
        if not found.errors and found.policy.warn.level == found.policy.audit.level == PRIVILEGED:
            return
        template = objects.get(attributes.obj, _TEMPLATES[attributes.resource])
        if template is not None:
            self._judge(attributes, found, template, is_pod=False)

    def _judge(self, attributes: Attributes, labelled: _Labelled, pod: Object, *, is_pod: bool) -> None:
        policy = labelled.policy
        spec, annotations = pod["spec"], (pod.get("metadata") or {}).get("annotations") or {}
        if spec.get("runtimeClassName") in self._configuration.runtime_classes:
            self._exempt(attributes, "runtimeClass")
            return
        requested = _requested(attributes)
        if labelled.errors:
            messages = joined(list(map(str, labelled.errors)))
            attributes.annotate(_ERROR, f"Failed to parse policy: {messages}")
            self._metrics.failed(requested, is_fatal=False)
        if is_pod:
            attributes.annotate(_ENFORCED, str(policy.enforce))
        if found := checks.findings(policy.audit, annotations, spec):
            why = f"would violate PodSecurity {quote(str(policy.audit))}: {checks.details(found)}"
            attributes.annotate(_VIOLATIONS, why)
            self._metrics.judged(policy.audit, "audit", requested, is_allowed=False)
        if is_pod:
            found = checks.findings(policy.enforce, annotations, spec)
            self._metrics.judged(policy.enforce, "enforce", requested, is_allowed=not found)
            if found:
                why = f"violates PodSecurity {quote(str(policy.enforce))}: {checks.details(found)}"
                raise errors.Forbidden(attributes.resource, attributes.name, why=why)
        if found := checks.findings(policy.warn, annotations, spec):
            self._metrics.judged(policy.warn, "warn", requested, is_allowed=False)
            attributes.warn(f"would violate PodSecurity {quote(str(policy.warn))}: {checks.details(found)}")

    # Namespaces

    async def _validate_namespace(self, attributes: Attributes) -> None:
        assert attributes.obj is not None
        new = self._labelled(attributes.obj)
        old = self._labelled(attributes.old) if attributes.old is not None else None
        if new.errors and (old is None or list(new.errors) != list(old.errors)):
            raise invalid_of(GroupKind(attributes.kind.group, attributes.kind.kind), attributes.name, new.errors)
        if old is not None and not _is_stricter(new.policy.enforce, old.policy.enforce):
            return
        name = attributes.obj["metadata"]["name"]
        if name in self._configuration.namespaces:
            attributes.warn(self._of_no_effect(name, new.policy, attributes.obj["metadata"].get("labels") or {}))
        elif old is not None:
            for warning in await self._violations(name, new.policy.enforce):
                attributes.warn(warning)

    def _of_no_effect(self, name: str, policy: NamespacePolicy, labels: Mapping[str, str]) -> str:
        """The warning that the labels of an exempt namespace have no effect; empty when they would demand nothing."""
        if policy.is_privileged or policy.is_like(self._configuration.defaults):
            return ""
        levels = [
            f"{mode}={standard}"
            for mode, standard in (("enforce", policy.enforce), ("audit", policy.audit), ("warn", policy.warn))
            if standard.level != PRIVILEGED and {f"{PREFIX}{mode}", f"{PREFIX}{mode}-version"} & labels.keys()
        ]
        demands = ", ".join(levels)
        return f"namespace {quote(name)} is exempt from Pod Security, and the policy ({demands}) will be ignored"

    async def _violations(self, namespace: str, standard: Standard) -> list[str]:
        """Warnings about the existing pods that violate a standard, grouped by reason."""
        names: dict[str, list[str]] = {}
        pods = await self._pods_of(namespace)
        ends, checked = self._clock.monotonic() + _TIME_LIMIT, 0
        async for pod in in_turns(pods[:_MOST_PODS]):
            checked += 1
            annotations = pod["metadata"].get("annotations") or {}
            if found := checks.findings(standard, annotations, pod["spec"]):
                names.setdefault(checks.reasons(found), []).append(pod["metadata"]["name"])
            if self._clock.monotonic() > ends:
                break
        return list(_warnings(namespace, standard, names, checked=checked, total=len(pods)))

    async def _pods_of(self, namespace: str) -> list[Object]:
        """The pods of a namespace, first one pod of each controller."""
        first: list[Object] = []
        others: list[Object] = []
        seen: set[str] = set()
        async for pod in self._pods.scan(f"{namespace}/"):
            if pod["spec"].get("runtimeClassName") in self._configuration.runtime_classes:
                continue
            controller = _controller(pod)
            (others if controller in seen else first).append(pod)
            if controller:
                seen.add(controller)
        return first + others


def _requested(attributes: Attributes) -> Requested:
    """The labels of a request in the metrics."""
    what = "pod" if attributes.resource == PODS else "namespace" if attributes.resource == _NAMESPACES else "controller"
    return _OPERATIONS[attributes.operation], what, attributes.subresource


def _warnings(
    namespace: str, standard: Standard, names: Mapping[str, Sequence[str]], *, checked: int, total: int
) -> Iterator[str]:
    if checked < total:
        only = f"only checked against the first {checked} of {total} existing pods"
        yield f"new PodSecurity enforce level {only}"
    if names:
        level = f"the new PodSecurity enforce level {quote(str(standard))}"
        yield f"existing pods in namespace {quote(namespace)} violate {level}"
    yield from sorted(f"{_pod_names(pods)}: {reason}" for reason, pods in names.items())


def _pod_names(pods: Sequence[str]) -> str:
    others = len(pods) - 1
    if not others:
        return pods[0]
    return f"{min(pods)} (and {others} other {'pod' if others == 1 else 'pods'})"


def _controller(pod: Object) -> str:
    owners = pod["metadata"].get("ownerReferences") or ()
    return next((str(owner.get("uid", "")) for owner in owners if owner.get("controller")), "")


def _is_stricter(new: Standard, old: Standard) -> bool:
    """Whether the new standard may refuse pods that the old one allowed."""
    if new == old or new.level == PRIVILEGED:
        return False
    return new.minor != old.minor or new.strictness > old.strictness


def _is_significant(new: Mapping[str, Any], old: Mapping[str, Any]) -> bool:
    """Whether an update of a pod changes its containers or their images."""
    for name in ("containers", "initContainers"):
        if _images(new, name) != _images(old, name):
            return True
    before = {one.get("name"): one.get("image") for one in old.get("ephemeralContainers") or ()}
    return any(before.get(one.get("name")) != one.get("image") for one in new.get("ephemeralContainers") or ())


def _images(spec: Mapping[str, Any], name: str) -> list[str]:
    return [one.get("image", "") for one in spec.get(name) or ()]
