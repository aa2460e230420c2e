"""Scheduler: gives each pod without a node one, as kube-scheduler: filters, scores, priorities and preemption.

Must hold: one pod is looked at at a time, and counts for its node from then on. So resources are not assigned twice.
Bindings are written in the background, as many at once as the store can commit together.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import partial

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime import pods as podrules
from aio_apiserver.controllers.runtime.controller import Controller, Desk
from aio_apiserver.controllers.runtime.ranked_queue import RankedQueue
from aio_apiserver.controllers.runtime.resources import DISRUPTION_BUDGETS, NAMESPACES, NODES, PODS, RESOURCE_CLAIMS
from aio_apiserver.registry.base import errors
from aio_apiserver.simulation.scheduling import preempting, preemption
from aio_apiserver.simulation.scheduling.cluster_view import ClusterView
from aio_apiserver.simulation.scheduling.device_allocation import DeviceAllocation, PodDevices
from aio_apiserver.simulation.scheduling.node_views import is_alike
from aio_apiserver.simulation.scheduling.pod_views import PodView, may_have_changed, view_of
from aio_apiserver.simulation.scheduling.preemption import PreemptionCandidate
from aio_apiserver.simulation.scheduling.rejections import NO_NODES, Diagnosis, not_preempted
from aio_apiserver.simulation.scheduling.scheduling_writes import SCHEDULER, SchedulingWrites
from aio_apiserver.simulation.scheduling.search import Excluded, Search, Wanted
from aio_apiserver.simulation.scheduling.volume_binding import VolumeBinding
from aio_apiserver.simulation.scheduling.volume_scheduling import PodClaims
from aio_apiserver.simulation.scheduling.waiting import WaitingPods
from aio_apiserver.storage.errors import StorageError

logger = logging.getLogger(__name__)

_NO_CLAIMS, _STILL_CLAIMS = "no new claims to deallocate", "still not schedulable"
_MOST_WRITES = 64
"""The bindings and conditions that are written at once."""
_LOOK_AGAIN, _LOOK_AT_NEIGHBOURS = "look again", "look again at pods with rules about others"
"""The queue keys for waiting pods. Keys of pods contain a namespace."""
_REST, _LONGEST_REST_SECONDS = 9.0, 1.0
"""The pause before waiting pods are tried again, as a multiple of the time that it took the last time."""


Write = Callable[[], Awaitable[None]]


def _is_mine(pod: Object) -> bool:
    """Whether this scheduler has to bind the pod."""
    spec = pod["spec"]
    waits = not spec.get("nodeName") and not spec.get("schedulingGates") and podrules.is_active(pod)
    return waits and spec.get("schedulerName", SCHEDULER) == SCHEDULER


class Scheduler(Controller):
    """Binds pods."""

    name = "simulated-scheduler"
    component = SCHEDULER
    workers = 1
    waits_for_writes = False

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self.queue = RankedQueue(desk.clock, self._tasks, self._rank)
        self._view = ClusterView()
        self._search = Search()
        self._waiting = WaitingPods()
        self._slots = asyncio.Semaphore(_MOST_WRITES)
        self._writing = 0
        self._spent = 0.0
        """The seconds for waiting pods since they were last queued."""

    def begin(self) -> None:
        self.act_as("system:kube-scheduler", manager="kube-scheduler")
        self._writes = SchedulingWrites(self.client, self.recorder, self.desk.now)
        self._pods = self.follow(PODS)
        self._pods.listen(self._pod_changed)
        self._nodes = self.follow(NODES)
        self._nodes.listen(self._node_changed)
        self._budgets = self.follow(DISRUPTION_BUDGETS)
        self.follow(NAMESPACES).listen(self._namespace_changed)
        self._volumes = VolumeBinding(self.follow, self._claims_changed)
        has_devices = self.client.served.get(RESOURCE_CLAIMS) is not None
        self._devices = DeviceAllocation(self.follow, partial(self._look_again, _LOOK_AGAIN)) if has_devices else None

    @property
    def is_idle(self) -> bool:
        return super().is_idle and not self._writing

    def _rank(self, key: str) -> int:
        """Pods of higher priority come first, and after them another look at those that wait."""
        pod = self._pods.get(key)
        return -int(pod["spec"].get("priority") or 0) if pod is not None else 0

    # Events

    def _node_changed(self, name: str, before: Object | None, after: Object | None) -> None:
        if before is None or after is None or not is_alike(before, after):
            self._view.put_node(name, after)
            self._look_again(_LOOK_AGAIN)

    def _namespace_changed(self, name: str, _before: Object | None, after: Object | None) -> None:
        self._view.put_namespace(name, (after["metadata"].get("labels") or {}) if after is not None else None)

    def _pod_changed(self, key: str, before: Object | None, after: Object | None) -> None:
        if before is not None and after is not None and not may_have_changed(before, after):
            return
        if after is None or podrules.is_finished(after):
            self._pod_ended(key, after)
        elif node := after["spec"].get("nodeName"):
            self._try_next(self._waiting.drop(key))
            pod = view_of(after)
            self._view.put(pod, node)
            self._view.nominate(pod, "")
            self._look_again(_LOOK_AT_NEIGHBOURS)
        elif _is_mine(after):
            pod = view_of(after)
            self._view.nominate(pod, pod.nominated_node)
            self.queue.add(key)

    def _pod_ended(self, key: str, last: Object | None) -> None:
        self._try_next(self._waiting.drop(key))
        nominated = next((pods[key] for pods in self._view.nominated.values() if key in pods), None)
        if nominated is not None:
            self._view.nominate(nominated, "")
        if self._view.remove(key) is not None or nominated is not None:
            self._look_again(_LOOK_AGAIN)

    def _claims_changed(self, key: str) -> None:
        self._waiting.outdate(key)
        self.queue.add(key)

    def _try_next(self, key: str) -> None:
        if key:
            self.queue.add(key)

    def _look_again(self, which: str) -> None:
        """Queue the waiting pods, since they may fit now. Many changes become one look."""
        if len(self._waiting):
            self.queue.recheck_after(which, min(_REST * self._spent, _LONGEST_REST_SECONDS))

    # Work

    async def reconcile(self, key: str) -> float | None:
        if key in (_LOOK_AGAIN, _LOOK_AT_NEIGHBOURS):
            self._spent = 0.0
            for one in self._waiting.firsts(of_all=key == _LOOK_AGAIN):
                self.queue.add(one)
            return None
        pod = self._pods.get(key)
        if pod is None or not _is_mine(pod) or self._view.node_of(key):
            return None
        claims = self._volumes.of(pod)
        if claims.problem or claims.is_waiting:
            await self._wait_for_claims(pod, claims.problem)
        else:
            await self._place(view_of(pod), claims)
        return None

    async def _place(self, pod: PodView, claims: PodClaims) -> None:
        """Give a pod a node, or note why no node takes it."""
        why = self._waiting.last_answer(pod)
        if why:
            self._waiting.put(pod, why, is_current=True)
            await self._write(pod, partial(self._writes.tell, pod.obj, why))
            return
        devices = PodDevices()
        if self._devices is not None and pod.obj["spec"].get("resourceClaims"):
            devices = self._devices.of(pod.obj)
        if devices.problem:
            why = self._problem(pod.obj, devices.problem)
            self._waiting.put(pod, why, is_current=True)
            await self._write(pod, partial(self._writes.tell, pod.obj, why))
            return
        began = self.desk.clock.patience.monotonic()
        wanted = Wanted(pod, self._view, self._excluding(claims, devices))
        found = self._search.find(wanted, claims.chosen or pod.nominated_node)
        if not found.node:
            self._spent += self.desk.clock.patience.monotonic() - began
            self._volumes.wait(pod.obj)
            await self._reject(wanted, found.diagnosis)
        elif claims.open:
            self._volumes.wait(pod.obj)
            await self._volumes.assign(self.client, claims, self._nodes.items[found.node])
        else:
            self._try_next(self._waiting.drop(pod.key))
            self._view.put(pod, found.node)
            await self._write(pod, self._binding(pod.obj, found.node, devices))

    def _excluding(self, claims: PodClaims, devices: PodDevices) -> Excluded:
        """The reasons of volumes and devices against a node."""
        checks = [self._volumes.keeps_away(claims)] if claims.bound or claims.open else []
        if self._devices is not None and devices.claims:
            checks.append(self._devices.keeps_away(devices))
        return lambda node: next(filter(None, (check(node) for check in checks)), "")

    def _binding(self, pod: Object, node: str, devices: PodDevices) -> Write:
        """The write of a binding. Its devices are allocated now."""
        if self._devices is None or not devices.claims:
            return partial(self._writes.bind, pod, node)
        allocations = self._devices.allocate(devices, self._nodes.items[node]) or []
        self._devices.assume(devices, allocations)
        reserving = partial(self._devices.write, self.client, devices, allocations, pod)

        async def bind() -> None:
            await reserving()
            await self._writes.bind(pod, node)

        return bind

    async def _wait_for_claims(self, pod: Object, problem: str) -> None:
        self._volumes.wait(pod)
        if problem:
            why = self._problem(pod, problem)
            await self._write(view_of(pod), partial(self._writes.tell, pod, why))

    def _message(self, diagnosis: Diagnosis, pod: Object, preempted: str) -> str:
        """Why no node takes a pod, and what was tried to make room."""
        claims = _STILL_CLAIMS if pod["spec"].get("resourceClaims") else _NO_CLAIMS
        return diagnosis.message(claims if self._devices is not None else "", f"preemption: {preempted}")

    def _problem(self, pod: Object, problem: str) -> str:
        """The message of a problem that no node solves."""
        total = len(self._view.nodes)
        return self._message(Diagnosis(total, before=problem), pod, not_preempted({}, total))

    async def _reject(self, wanted: Wanted, diagnosis: Diagnosis) -> None:
        """No node takes a pod: make room if its priority allows it, and report why."""
        if not diagnosis.total:
            self._waiting.put(wanted.pod, NO_NODES, is_current=True)
            await self._write(wanted.pod, partial(self._writes.tell, wanted.pod.obj, NO_NODES))
            return
        pod = wanted.pod
        result = await preempting.candidate(wanted, diagnosis, self._budgets.items)
        present = self._pods.get(pod.key)
        if present is None or may_have_changed(pod.obj, present):
            return  # it has changed meanwhile, and is in the queue again
        if isinstance(result, PreemptionCandidate):
            why = diagnosis.message()
            self._view.nominate(pod, result.node)
            self._waiting.put(pod, why, is_current=False)
            await self._write(pod, partial(self._make_room, result, pod, why))
            return
        why = self._message(diagnosis, pod.obj, result)
        for other in self._waiting.put(pod, why, is_current=True):
            self.queue.add(other)
        nominated = pod.nominated_node if result == preemption.WAITING else ""
        await self._write(pod, partial(self._writes.tell, pod.obj, why, nominated))

    async def _make_room(self, candidate: PreemptionCandidate, pod: PodView, why: str) -> None:
        """Remove the victims, and note the node at the pod, and at no pod of a lower priority."""
        await self._writes.tell(pod.obj, why, candidate.node)
        for victim in candidate.victims:
            await self._writes.preempt(victim.obj, pod.obj, candidate.node)
        for other in list(self._view.nominated.get(candidate.node, {}).values()):
            if other.priority < pod.priority:
                await self._writes.nominate(other.obj, "")

    async def _write(self, pod: PodView, write: Write) -> None:
        """Write in the background, as soon as fewer than the most writes are on their way."""
        await self._slots.acquire()
        self._writing += 1
        self._tasks.spawn(self._written(pod, write), name=f"write for {pod.key}")

    async def _written(self, pod: PodView, write: Write) -> None:
        try:
            await write()
            self.queue.forget(pod.key)
        except (errors.StatusError, StorageError) as exc:
            logger.info("%s: cannot write for %s, retrying: %s", self.name, pod.key, exc)
            if self._view.pod(pod.key) is pod:
                self._view.remove(pod.key)
            if self._pods.get(pod.key) is not None:
                self.queue.retry(pod.key)
        finally:
            self._writing -= 1
            self._slots.release()
