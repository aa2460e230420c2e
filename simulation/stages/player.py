"""Player: lets objects of any kind move on as kwok's Stages say, in a simulated cluster.

The queue keys of objects name their place and their key. Must hold: a Stage acts on the state that it has matched. A
Stage that is not supported is left out, and an event about it says why. Pods move on simulated nodes alone, and so do
nodes that are simulated.
"""

import logging
from collections.abc import Iterable

import orjson
from msgspec import Struct

from aio_apiserver.base.jitter import chance
from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime import events
from aio_apiserver.controllers.runtime.client import key_of
from aio_apiserver.controllers.runtime.controller import Controller, Desk
from aio_apiserver.controllers.runtime.pods_by_node import PodsByNode
from aio_apiserver.controllers.runtime.resources import DEFINITIONS, NODES, PODS
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.generic.in_process_client import ResourcePath
from aio_apiserver.simulation.model import node_objects
from aio_apiserver.simulation.stages import stage as stage_rules
from aio_apiserver.simulation.stages import steps
from aio_apiserver.simulation.stages.cel import StageExpressions
from aio_apiserver.simulation.stages.cluster_functions import ClusterFunctions
from aio_apiserver.simulation.stages.stage import POD, Staged, StageRules
from aio_apiserver.simulation.stages.staged_kinds import StagedKinds
from aio_apiserver.simulation.stages.staged_places import StagedPlaces, parsed_key, queue_key
from aio_apiserver.simulation.stages.steps import AppliedObject, Finalizers, Remove, Rendered, Step, Tell
from aio_apiserver.simulation.stages.template_values import TemplateFailure
from aio_apiserver.simulation.stages.unsupported import Unsupported

logger = logging.getLogger(__name__)

STAGES = ResourcePath("kwok.x-k8s.io", "v1alpha1", "stages")
_RESOURCES = "resources"
"""The queue key for a look at the Stages and at the served resources. Keys of objects have a blank."""
_FAILURES = (TemplateFailure, errors.Invalid, errors.BadRequest)
"""Another try with the same template would fail, too."""
_SETTLING_SECONDS = 1.0
"""A definition may arrive here before the server starts or stops to serve its resource."""


class _Turn(Struct, frozen=True):
    """A Stage that will act on a state of an object."""

    stage: StageRules
    version: str
    due: float


class StagePlayer(Controller):
    """The Stages of a simulated cluster."""

    name = "stages"
    component = "kwok"
    workers = 16

    def __init__(self, desk: Desk, staged: StagedKinds, version: str, kubelet_port: int) -> None:
        super().__init__(desk)
        self._staged = staged
        self._stages: dict[Staged, list[StageRules]] = {}
        self._judged: dict[str, int] = {}
        """The generation in which each Stage was last read, by uid."""
        self._turns: dict[str, _Turn] = {}
        self._written: dict[str, int] = {}
        """The revision of the last write to an object, which its informer may not have seen."""
        self._places = StagedPlaces(desk, self._changed)
        self._functions = ClusterFunctions(desk, version, kubelet_port)
        self._cel = StageExpressions(desk.clock, chance.random)

    def begin(self) -> None:
        self.act_as("system:node-simulator", "system:nodes", manager="kwok")
        self.follow(DEFINITIONS).listen(lambda _key, _before, _after: self._look_at_stages())
        self._nodes = self.follow(NODES)
        self._nodes.listen(self._node_changed)
        pods = self.follow(PODS)
        pods.listen(lambda _key, before, after: self._functions.addresses.hear(before, after))
        self._on = PodsByNode(pods)
        self.queue.add(_RESOURCES)

    def _look_at_stages(self) -> None:
        self.queue.add(_RESOURCES)
        self.queue.recheck_after(_RESOURCES, _SETTLING_SECONDS)

    def _changed(self, place: ResourcePath, key: str, after: Object | None) -> None:
        if place == STAGES:
            self.queue.add(_RESOURCES)
        self.queue.add(queue_key(place, key))
        if after is None:
            self._written.pop(queue_key(place, key), None)

    def _node_changed(self, name: str, before: Object | None, after: Object | None) -> None:
        """Queue the pods that were bound to a node before it arrived."""
        if before is None and after is not None and self._staged.has(POD):
            for key in self._on.keys_on(name):
                self.queue.add(queue_key(PODS, key))

    async def reconcile(self, key: str) -> float | None:
        if key == _RESOURCES:
            self._read_stages()
            return None
        place, name = parsed_key(key)
        obj = self._places.get(place, name)
        if obj is None or not self._is_ours(place, obj):
            self._turns.pop(key, None)
            return None
        if int(obj["metadata"]["resourceVersion"]) < self._written.get(key, 0):
            return None  # the newer state is on its way, and comes into the queue
        return await self._move(key, place, obj)

    def _read_stages(self) -> None:
        """Read all Stages, and follow the objects that they are for."""
        self._places.follow(STAGES)
        found: dict[Staged, list[StageRules]] = {}
        for source in sorted(self._places.items(STAGES), key=lambda one: str(one["metadata"]["name"])):
            stage = self._parsed(source)
            if stage is not None:
                found.setdefault(stage.target, []).append(stage)
        before, self._stages = self._stages, found
        changed = {kind for kind, stages in found.items() if _versions(stages) != _versions(before.get(kind, ()))}
        self._staged.set(found.keys())
        self._places.follow_kinds(found.keys(), besides=STAGES)
        for place, name in self._places.objects_of(changed):
            self._turns.pop(queue_key(place, name), None)
            self.queue.add(queue_key(place, name))

    def _parsed(self, source: Object) -> StageRules | None:
        """The rules of a Stage; None, with an event, for one that is not supported."""
        metadata = source["metadata"]
        is_new = self._judged.get(metadata["uid"]) != _generation(source)
        self._judged[metadata["uid"]] = _generation(source)
        try:
            stage = stage_rules.parse(source, self._cel)
        except Unsupported as exc:
            if is_new:
                self._warn(source, "Unsupported", f"The Stage is left out: {exc} is not supported")
            return None
        if is_new and steps.ignored(source["spec"]):
            self._warn(source, "Ignored", "Impersonation is ignored: the simulation writes as itself")
        return stage

    def _warn(self, source: Object, reason: str, message: str) -> None:
        logger.warning("Stage %s: %s", source["metadata"]["name"], message)
        about = events.reference(source, "kwok.x-k8s.io/v1alpha1", "Stage")
        self.recorder.say(about, reason, message, is_warning=True)

    def _is_ours(self, place: ResourcePath, obj: Object) -> bool:
        if place == NODES:
            return node_objects.is_simulated(obj)
        if place == PODS:
            node = self._nodes.get(obj["spec"].get("nodeName", ""))
            return node is not None and node_objects.is_simulated(node)
        return True

    async def _move(self, key: str, place: ResourcePath, obj: Object) -> float | None:
        turn = self._turn(key, place, obj)
        if turn is None:
            return None
        left = turn.due - self.desk.clock.monotonic()
        if left > 0:
            return left
        try:
            for step in turn.stage.steps:
                await self._take(key, place, obj, step)
        except _FAILURES as exc:
            self._warn(turn.stage.source, "Failed", f"The template failed for {key}: {exc}")
        self._turns.pop(key, None)
        return None

    def _turn(self, key: str, place: ResourcePath, obj: Object) -> _Turn | None:
        """The Stage that acts next on this state of an object."""
        version = obj["metadata"]["resourceVersion"]
        turn = self._turns.get(key)
        if turn is not None and turn.version == version:
            return turn
        self._turns.pop(key, None)
        kind = self._places.kind_of(place)
        stage = stage_rules.choose(self._stages.get(kind, ()) if kind else (), obj, chance.random)
        if stage is None:
            return None
        delay = stage.delay.seconds(obj, self.desk.clock.now(), chance.random)
        self._turns[key] = made = _Turn(stage, version, self.desk.clock.monotonic() + delay)
        return made

    async def _take(self, key: str, place: ResourcePath, obj: Object, step: Step) -> None:
        """Take a step. Raises StatusError, TemplateFailure."""
        written: Object | None = None
        if isinstance(step, Tell):
            about = events.reference(obj, obj["apiVersion"], obj["kind"])
            self.recorder.say(about, step.reason, step.message, is_warning=step.type == events.WARNING)
        elif isinstance(step, Finalizers):
            written = await self.client.change(place, obj, lambda present: _set_finalizers(present, step))
        elif isinstance(step, Remove):
            await self.client.delete(place, obj, grace=0)
        elif isinstance(step, AppliedObject):
            await self._apply(obj, step)
        else:
            written = await self._patch(place, obj, step)
        if written is not None:
            self._written[key] = int(written["metadata"]["resourceVersion"])

    async def _apply(self, obj: Object, step: AppliedObject) -> None:
        """Create or change another object. Raises StatusError, TemplateFailure."""
        made = step.object_for(obj, self._functions.functions_for(obj, self._nodes))
        place = self.client.place_of(made["apiVersion"], made["kind"])
        own = made["metadata"].get("namespace") or obj["metadata"].get("namespace", "")
        namespace = own if self.client.at(place).kind.is_namespaced else ""
        key = f"{namespace}/{made['metadata']['name']}" if namespace else made["metadata"]["name"]
        target = place.part(step.subresource) if step.subresource else place
        if await self.client.patch(target, key, step.media_type, orjson.dumps(made)) is None and not step.subresource:
            await self.client.create(place, made, namespace=namespace)

    async def _patch(self, place: ResourcePath, obj: Object, step: Rendered) -> Object | None:
        target = place.part(step.subresource) if step.subresource else place
        text = step.text(obj, self._functions.functions_for(obj, self._nodes))
        return await self.client.patch(target, key_of(obj), step.media_type, text, uid=obj["metadata"]["uid"])


def _versions(stages: Iterable[StageRules]) -> list[tuple[str, int]]:
    """What changes when the rules of one of these Stages do."""
    return [(one.source["metadata"]["uid"], _generation(one.source)) for one in stages]


def _generation(stage: Object) -> int:
    """A number that grows with each change of the rules, and not with the status of a Stage."""
    return int(stage["metadata"]["generation"])


def _set_finalizers(present: Object, step: Finalizers) -> bool:
    """Set the finalizers of an object. Returns whether they change."""
    metadata = present["metadata"]
    before = list(metadata.get("finalizers") or ())
    metadata["finalizers"] = step.after(before)
    return bool(metadata["finalizers"] != before)
