"""Pod autoscalers: scales the target of a HorizontalPodAutoscaler so that its pods use what they should.

Must hold: the controller evaluates an autoscaler every 15 seconds. A change in between starts no evaluation.
"""

from collections.abc import Sequence
from typing import NoReturn

from msgspec import Struct, field

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.autoscaling import autoscaler_status as rules
from aio_apiserver.controllers.autoscaling import metrics as autoscaling_metrics
from aio_apiserver.controllers.autoscaling import scaling_limits
from aio_apiserver.controllers.autoscaling import targets as autoscaling_targets
from aio_apiserver.controllers.autoscaling.metrics import ScaledPods
from aio_apiserver.controllers.autoscaling.pod_usage import Uncountable
from aio_apiserver.controllers.autoscaling.scaling_limits import Bounds, ScalingHistory
from aio_apiserver.controllers.autoscaling.sources import MetricSources
from aio_apiserver.controllers.runtime import events
from aio_apiserver.controllers.runtime.client import key_of, split
from aio_apiserver.controllers.runtime.controller import Controller
from aio_apiserver.controllers.runtime.resources import AUTOSCALERS, PODS
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.base.errors import BadRequest, StatusError
from aio_apiserver.registry.generic.in_process_client import ResourcePath

_INTERVAL_SECONDS = 15.0
_API_VERSION, _KIND = "autoscaling/v2", "HorizontalPodAutoscaler"
_GOT_SCALE = ("SucceededGetScale", "the HPA controller was able to get the target's current scale")
_NO_SCALE = "the HPA controller was unable to get the target's current scale: "
_NO_UPDATE = "the HPA controller was unable to update the target scale: "
_NO_COUNT = "the HPA was unable to compute the replica count: "
_NO_SELECTOR = ("InvalidSelector", "the HPA target's scale is missing a selector")
_WRONG_SELECTOR = "couldn't convert selector into a corresponding internal selector object: "
_AT_ZERO = ("ScalingDisabled", "scaling is disabled since the replica count of the target is zero")


class _Undecided(Exception):
    """The autoscaler cannot decide in this round. Its conditions say why."""


class _Round(Struct):
    """One look at one autoscaler. `status` gets the conditions, `metrics` the entries for currentMetrics."""

    autoscaler: Object
    history: ScalingHistory
    status: Object
    now: float
    shown: str
    scale: Object
    place: ResourcePath
    metrics: list[Object] = field(default_factory=list)

    @property
    def bounds(self) -> Bounds:
        spec = self.autoscaler["spec"]
        least = spec.get("minReplicas")
        current = int(self.scale["spec"].get("replicas") or 0)
        return Bounds(current, 1 if least is None else least, spec["maxReplicas"])

    def report(self, kind: str, is_true: bool, *why: str) -> None:
        reason, message = why
        rules.report(self.status, kind, is_true=is_true, why=(reason, message), now=self.shown)


class HorizontalPodAutoscalers(Controller):
    """Scales by the metrics of resources, pods, objects, and systems outside of the cluster."""

    name = "horizontalpodautoscaler-controller"
    account = "horizontal-pod-autoscaler"
    component = "horizontal-pod-autoscaler"

    def begin(self) -> None:
        self._histories: dict[str, ScalingHistory] = {}
        self._selectors: dict[str, str] = {}
        self._pods = self.follow(PODS)
        self._autoscalers = self.follow(AUTOSCALERS)
        self._autoscalers.listen(self._changed)

    def _changed(self, key: str, before: Object | None, after: Object | None) -> None:
        if after is None:
            self._histories.pop(key, None)
            self._selectors.pop(key, None)
        elif before is None:
            self.queue.add_after(key, _INTERVAL_SECONDS)

    async def reconcile(self, key: str) -> float | None:
        autoscaler = self._autoscalers.get(key)
        if autoscaler is None:
            return None
        autoscaler = objects.clone(autoscaler)
        status: Object = autoscaler.get("status") or {}
        try:
            place, scale = await autoscaling_targets.scale_of(self.client, autoscaler)
        except StatusError as exc:
            self._say(autoscaler, "FailedGetScale", str(exc))
            why = ("FailedGetScale", _NO_SCALE + str(exc))
            rules.report(status, rules.ABLE, is_true=False, why=why, now=self.desk.now())
            await self._write(autoscaler, status)
            return _INTERVAL_SECONDS
        if key not in self._autoscalers.items:
            return None  # it was deleted meanwhile
        history = self._histories.setdefault(key, ScalingHistory())
        now = self.desk.clock.now()
        await self._act(_Round(autoscaler, history, status, now, self.desk.now(), scale, place))
        return _INTERVAL_SECONDS

    async def _act(self, found: _Round) -> None:
        """Decide, scale, and write the status."""
        current = found.bounds.current
        found.report(rules.ABLE, True, *_GOT_SCALE)
        found.history.begin(current, now=found.now)
        try:
            desired, reason = await self._desired(found)
            is_new = desired != current
            if is_new:
                await self._rescale(found, desired, reason)
        except _Undecided:
            desired, is_new = int(found.status.get("desiredReplicas") or 0), False
        scale_time = found.shown if is_new else None
        status = rules.finished(found.status, current, desired, found.metrics, scale_time)
        await self._write(found.autoscaler, status)

    async def _desired(self, found: _Round) -> tuple[int, str]:
        """The wanted replicas, and the reason of a change. Raises _Undecided."""
        bounds = found.bounds
        if bounds.current == 0:
            found.report(rules.ACTIVE, False, *_AT_ZERO)
            return 0, ""
        if bounds.current > bounds.most:
            return bounds.most, "Current number of replicas above Spec.MaxReplicas"
        if bounds.current < bounds.least:
            return bounds.least, "Current number of replicas below Spec.MinReplicas"
        wanted, metric = await self._proposed(found)
        behavior = found.autoscaler["spec"].get("behavior")
        stable = scaling_limits.stabilize(wanted, bounds.current, found.history, behavior, now=found.now)
        found.report(rules.ABLE, True, stable.reason, stable.message)
        limited = scaling_limits.limit(stable.replicas, bounds, found.history, behavior, now=found.now)
        found.report(rules.LIMITED, limited.replicas != stable.replicas, limited.reason, limited.message)
        reason = f"{metric} above target" if wanted > bounds.current else ""
        return limited.replicas, reason if wanted >= bounds.current else "All metrics below target"

    async def _proposed(self, found: _Round) -> tuple[int, str]:
        """The most replicas that a metric asks for, and that metric. Raises _Undecided."""
        target = self._selected(found)
        sources = MetricSources(self.client, self.desk.aggregated, self.desk.is_simulated)
        metrics = found.autoscaler["spec"].get("metrics") or []
        current, best, name, failures = found.bounds.current, 0, "", list[tuple[str, str, str]]()
        for metric in metrics:
            try:
                made = await autoscaling_metrics.proposal(sources, metric, target)
            except Uncountable as exc:
                reason = f"FailedGet{metric['type']}Metric"
                self._say(found.autoscaler, reason, str(exc))
                failures.append((reason, _NO_COUNT + str(exc), rules.failure(metric, str(exc))))
                found.metrics.append(rules.UNMEASURED)
                continue
            found.metrics.append(rules.measured(metric, made.gauged))
            if best == 0 or made.replicas > best:
                best, name = made.replicas, rules.metric_name(metric)
        if failures and (len(failures) == len(metrics) or best < current):
            reason, message, first = failures[0]
            found.report(rules.ACTIVE, False, reason, message)
            text = f"invalid metrics ({len(failures)} invalid out of {len(metrics)}), first error is: {first}"
            self._say(found.autoscaler, "FailedComputeMetricsReplicas", text)
            raise _Undecided
        text = f"the HPA was able to successfully calculate a replica count from {name}"
        found.report(rules.ACTIVE, True, "ValidMetricFound", text)
        return best, name

    def _selected(self, found: _Round) -> ScaledPods:
        """The pods of the target. Raises _Undecided when other autoscalers have some of them."""
        text = autoscaling_targets.selector_of(found.scale)
        if not text:
            self._refuse(found, "SelectorRequired", "selector is required", *_NO_SELECTOR)
        try:
            selects = autoscaling_targets.selects(text)
        except BadRequest as exc:
            why = _WRONG_SELECTOR + str(exc)
            self._refuse(found, "InvalidSelector", why, "InvalidSelector", why)
        namespace, key = found.autoscaler["metadata"]["namespace"], key_of(found.autoscaler)
        self._selectors[key] = text
        pods = [pod for pod in self._pods.in_namespace(namespace) if selects(_labels(pod))]
        rivals = sorted({key, *self._rivals(namespace, pods)})
        if len(rivals) > 1:
            names = " ".join(f"{{{one.replace('/', ' ')}}}" for one in rivals)
            why = f"pods by selector {text} are controlled by multiple HPAs: [{names}]"
            self._refuse(found, "AmbiguousSelector", why, "AmbiguousSelector", why)
        present = int((found.scale.get("status") or {}).get("replicas") or 0)
        tolerances = rules.tolerances(found.autoscaler["spec"].get("behavior"))
        return ScaledPods(namespace, text, pods, found.bounds.current, present, tolerances, found.now)

    def _rivals(self, namespace: str, pods: Sequence[Object]) -> Sequence[str]:
        """The autoscalers of a namespace that select some of the pods."""
        known = self._autoscalers.items
        near = {key: text for key, text in self._selectors.items() if key in known and split(key)[0] == namespace}
        tests = {key: autoscaling_targets.selects(text) for key, text in near.items()}
        return [key for key, selects in tests.items() if any(selects(_labels(pod)) for pod in pods)]

    def _refuse(self, found: _Round, event: str, text: str, reason: str, message: str) -> NoReturn:
        self._say(found.autoscaler, event, text)
        found.report(rules.ACTIVE, False, reason, message)
        self._say(found.autoscaler, "FailedComputeMetricsReplicas", text)
        raise _Undecided

    async def _rescale(self, found: _Round, desired: int, reason: str) -> None:
        """Write the replicas into the scale. Raises _Undecided when the server refuses them."""

        def resize(scale: Object) -> None:
            scale.setdefault("spec", {})["replicas"] = desired

        try:
            await self.client.change(found.place, found.scale, resize)
        except StatusError as exc:
            text = f"New size: {desired}; reason: {reason}; error: {exc}"
            self._say(found.autoscaler, "FailedRescale", text)
            found.report(rules.ABLE, False, "FailedUpdateScale", _NO_UPDATE + str(exc))
            raise _Undecided from exc
        text = f"the HPA controller was able to update the target scale to {desired}"
        found.report(rules.ABLE, True, "SucceededRescale", text)
        self._say(found.autoscaler, "SuccessfulRescale", f"New size: {desired}; reason: {reason}", is_warning=False)
        found.history.scaled(found.bounds.current, desired, now=found.now)

    async def _write(self, autoscaler: Object, status: Object) -> None:
        def tell(present: Object) -> bool:
            is_right = present.get("status") == status
            present["status"] = status
            return not is_right

        await self.client.change(AUTOSCALERS.part("status"), autoscaler, tell)

    def _say(self, autoscaler: Object, reason: str, message: str, *, is_warning: bool = True) -> None:
        about = events.reference(autoscaler, _API_VERSION, _KIND)
        self.recorder.say(about, reason, message, is_warning=is_warning)


def _labels(pod: Object) -> dict[str, str]:
    return pod["metadata"].get("labels") or {}
