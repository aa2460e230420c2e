"""Kubelet: lets the pods of simulated nodes start, run, end and stop, by the rules in their annotations.

Must hold: while Stages drive pods, it leaves all pods to them.

The last status of a deleted pod says how its containers ended. Owners that hold the pod with a finalizer, as Jobs do,
count it by this status.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from aio_apiserver.base import budget
from aio_apiserver.base.budget import BudgetExceeded
from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime import events
from aio_apiserver.controllers.runtime import pods as podrules
from aio_apiserver.controllers.runtime.client import key_of
from aio_apiserver.controllers.runtime.controller import Controller, Desk
from aio_apiserver.controllers.runtime.pods_by_node import PodsByNode
from aio_apiserver.controllers.runtime.resources import NODES, PODS
from aio_apiserver.registry.groups.core.pods import pod_conditions
from aio_apiserver.simulation.containers.courses import Course
from aio_apiserver.simulation.kubelet import pod_courses, pod_events, pod_stops, simulated_sizes
from aio_apiserver.simulation.kubelet.exec_prober import ExecProber
from aio_apiserver.simulation.kubelet.pod_courses import Courses
from aio_apiserver.simulation.kubelet.pod_events import PodEvent
from aio_apiserver.simulation.kubelet.pod_phases import Life
from aio_apiserver.simulation.kubelet.pod_processes import PodProcesses
from aio_apiserver.simulation.kubelet.pod_stops import KILLED
from aio_apiserver.simulation.kubelet.simulation import Simulation
from aio_apiserver.simulation.model import node_objects, node_phases
from aio_apiserver.simulation.scheduling import node_admission
from aio_apiserver.simulation.scheduling.node_admission import PodRefusal
from aio_apiserver.simulation.stages.stage import POD
from aio_apiserver.simulation.stages.staged_kinds import StagedKinds


class SimulatedKubelet(Controller):
    """The kubelet of all simulated nodes."""

    name = "simulated-kubelet"
    component = "kubelet"
    workers = 32
    """It stands for many kubelets. The store commits their writes together."""

    def __init__(self, desk: Desk, staged: StagedKinds, simulation: Simulation) -> None:
        super().__init__(desk)
        self._worlds = simulation.worlds
        self._probes = ExecProber(simulation.worlds, desk.clock, self._say)
        self._processes = PodProcesses(simulation.containers, desk.clock, self.queue.add)
        self._staged = staged
        self._seen: dict[str, float] = {}
        """When each pod was first seen here, by uid."""
        self._ending: dict[str, float] = {}
        self._addresses: dict[str, str] = {}
        """The addresses of pods, by uid."""
        self._taken: set[str] = set()
        self._given: Counter[str] = Counter()
        """The number of addresses that each node has assigned."""

    def begin(self) -> None:
        self.act_as("system:node-simulator", "system:nodes", manager="kubelet")
        self._pods = self.follow(PODS, lambda pod: key_of(pod) if pod["spec"].get("nodeName") else "")
        self._pods.listen(self._pod_changed)
        self._on = PodsByNode(self._pods)
        self._nodes = self.follow(NODES)
        self._nodes.listen(self._node_changed)
        self._staged.listen(self._add_all)

    def _add_all(self) -> None:
        """Queue all pods, since Stages may have left them to this kubelet."""
        for key in self._pods.items:
            self.queue.add(key)

    def _node_changed(self, name: str, before: Object | None, after: Object | None) -> None:
        """Queue the pods that were bound to a node before it arrived, or before it became ready or reachable."""
        if after is not None and (before is None or _state(before) != _state(after)):
            for key in self._on.keys_on(name):
                self.queue.add(key)

    async def run(self) -> None:
        try:
            await super().run()
        finally:
            await self._processes.close()

    async def reconcile(self, key: str) -> float | None:
        pod = self._pods.get(key)
        self._processes.forget(key, pod)
        if pod is None or self._staged.has(POD):
            return None
        name = pod["spec"].get("nodeName", "")
        node = self._nodes.get(name)
        if node is None or not node_objects.is_simulated(node) or node_phases.is_silent(node):
            return None
        if podrules.is_ending(pod):
            return await self._end(pod)
        simulated_sizes.check(pod)
        if podrules.is_finished(pod) or not node_objects.is_ready(node):
            return None
        if _is_unseen(pod) and (refused := node_admission.refusal(pod, node, self._started_on(name))):
            await self._refuse(pod, refused)
            return None
        return await self._update_status(pod, node)

    def _started_on(self, node: str) -> Iterator[Object]:
        """The pods that a node has started, and that have not ended."""
        return (one for one in self._on.on(node) if _has_started(one) and not podrules.is_finished(one))

    async def _refuse(self, pod: Object, refused: PodRefusal) -> None:
        """Let a pod fail before any of its containers starts."""

        def tell(present: Object) -> None:
            present["status"] = node_admission.refused(present.get("status") or {}, refused, now=self.desk.now())

        await self.client.change(PODS.part("status"), pod, tell)
        self._say(pod, [PodEvent(refused.reason, refused.message, "", is_warning=True)])

    async def _update_status(self, pod: Object, node: Object) -> float | None:
        age = self._age(pod, self._seen, self._seconds_since_start(pod))
        runs = self._processes.runs(pod, age)
        courses = await self._courses(pod)
        life = Life(
            pod, age, self.desk.now(), node_objects.address(node), self._address(pod, node), runs, courses=courses
        )
        life = await self._probes.probe(await self._processes.start(life))
        status = life.status()
        if life.is_over or life.rules.simulates:
            self._processes.stop(pod)

        def tell(present: Object) -> bool:
            if podrules.is_ending(present) or present.get("status") != pod.get("status"):
                return False  # it has changed, and is queued again
            present["status"] = status
            return True

        await self._play({**pod, "status": status})
        if status != pod.get("status"):
            await self.client.change(PODS.part("status"), pod, tell)
            self._say(pod, pod_events.between(pod, pod.get("status") or {}, status))
        return life.next_look

    async def _courses(self, pod: Object) -> Courses:
        """What the programs of a pod do. Raises BudgetExceeded."""
        present = await self._worlds.present_files(pod)
        return await budget.within(
            pod_courses.JUDGED,
            lambda account: pod_courses.of_pod(pod, account, present),
            pod["metadata"]["namespace"],
        )

    async def _stops(self, pod: Object, grace: float) -> Mapping[str, Course]:
        """How the containers of a pod stop. They stop at once when that is too much to judge."""
        if not self._processes.are_simulated:
            return {}
        try:
            simulated_sizes.check(pod)
            return await budget.within(
                pod_courses.JUDGED,
                lambda account: pod_stops.of_pod(pod, grace, account),
                pod["metadata"]["namespace"],
            )
        except BudgetExceeded:
            return {}

    async def _play(self, pod: Object) -> None:
        """Let other pods find what the programs of a pod have written into volumes by now."""
        try:
            if self._processes.are_simulated:
                await self._worlds.play(pod)
        except BudgetExceeded as exc:
            message = f"The volumes of the pod lack files: the simulation takes {exc}"
            self._say(pod, [PodEvent("BudgetExceeded", message, "", is_warning=True)])

    def _say(self, pod: Object, news: Sequence[PodEvent]) -> None:
        node = pod["spec"]["nodeName"]
        for one in news:
            about = events.reference(pod, "v1", "Pod", one.field_path)
            self.recorder.say(about, one.reason, one.message, is_warning=one.is_warning, host=node)

    def _age(self, pod: Object, since: dict[str, float], already: float = 0.0) -> float:
        """The seconds since the first call for a pod, and those before it."""
        now = self.desk.clock.monotonic()
        return now - since.setdefault(pod["metadata"]["uid"], now - already)

    def _seconds_since_start(self, pod: Object) -> float:
        """The age of a pod that another server has started."""
        started = (pod.get("status") or {}).get("startTime")
        return max(0.0, self.desk.clock.now() - podrules.seconds(started)) if started else 0.0

    def _address(self, pod: Object, node: Object) -> str:
        if pod["spec"].get("hostNetwork"):
            return node_objects.address(node)
        uid, name = pod["metadata"]["uid"], node["metadata"]["name"]
        if uid not in self._addresses:
            address = node_objects.free_address(node, self._taken, self._given[name])
            self._given[name] += 1
            self._keep(uid, address)
        return self._addresses[uid]

    def _keep(self, uid: str, address: str) -> None:
        self._addresses[uid] = address
        self._taken.add(address)

    def _pod_changed(self, _key: str, before: Object | None, after: Object | None) -> None:
        uid, uid_before = _uid(after), _uid(before)
        if uid_before != uid:
            self._taken.discard(self._addresses.pop(uid_before, ""))
            self._seen.pop(uid_before, None)
            self._ending.pop(uid_before, None)
            self._probes.forget(uid_before)
            self._worlds.forget(uid_before)
        if address := _address_of(after):
            self._keep(uid, address)

    async def _end(self, pod: Object) -> float | None:
        grace = float(pod["metadata"].get("deletionGracePeriodSeconds") or 0)
        if pod["metadata"]["uid"] not in self._ending:
            self._say(pod, pod_events.ending(pod))
        age = self._age(pod, self._ending)
        self._processes.stop(pod, max(0.0, grace - age))
        stops = await self._stops(pod, grace)
        left = pod_stops.seconds(pod, stops, grace) - age
        if left > 0 or self._processes.is_running(pod):
            return max(left, 0.0) or None
        if pod["metadata"].get("finalizers") and not podrules.is_finished(pod):
            await self.client.change(PODS.part("status"), pod, lambda present: self._kill(present, stops))
        await self.client.delete(PODS, pod, grace=0)
        return None

    def _kill(self, present: Object, stops: Mapping[str, Course]) -> None:
        """Let the containers of a pod end that its owner still holds."""
        processes = self._processes.runs(present, self._age(present, self._seen))
        ends = stops if processes is None else processes
        codes = {name: one.code for name, one in ends.items()}
        present["status"] = killed(present.get("status") or {}, now=self.desk.now(), codes=codes)


def _state(node: Object) -> tuple[bool, bool]:
    return node_objects.is_ready(node), node_phases.is_silent(node)


def _has_started(pod: Object) -> bool:
    return "startTime" in (pod.get("status") or {})


def _is_unseen(pod: Object) -> bool:
    """Whether neither a scheduler nor a kubelet has looked at a pod: its creator has named the node."""
    return not _has_started(pod) and not (pod.get("status") or {}).get("conditions")


def _address_of(pod: Object | None) -> str:
    """The address of a pod without host network."""
    if pod is None or pod["spec"].get("hostNetwork"):
        return ""
    return str((pod.get("status") or {}).get("podIP", ""))


def _uid(pod: Object | None) -> str:
    return str(pod["metadata"]["uid"]) if pod is not None else ""


_NO_CODES: Mapping[str, int] = {}


def killed(status: Object, *, now: str, codes: Mapping[str, int] = _NO_CODES) -> Object:
    """The status after the kubelet has ended the containers that run. codes: those of containers, by name."""
    result: Object = {**status, "phase": "Failed", "conditions": [dict(one) for one in status.get("conditions") or ()]}
    for kind in ("Ready", "ContainersReady"):
        pod_conditions.put(result, {"type": kind, "status": "False", "reason": "PodFailed"}, now=now)
    for name in ("containerStatuses", "initContainerStatuses"):
        if status.get(name):
            result[name] = [_ended(one, now, codes.get(one["name"], KILLED)) for one in status[name]]
    if codes and all(_has_succeeded(one) for one in result.get("containerStatuses") or ()):
        result["phase"] = "Succeeded"
    return result


def _has_succeeded(container: Object) -> bool:
    return bool((container["state"].get("terminated") or {}).get("exitCode") == 0)


def _ended(container: Object, now: str, code: int) -> Object:
    running = (container.get("state") or {}).get("running")
    if running is None:
        return container
    reason = "Error" if code else "Completed"
    ended = {"exitCode": code, "reason": reason, "startedAt": running["startedAt"], "finishedAt": now}
    shown = {**ended, "containerID": container["containerID"]} if container.get("containerID") else ended
    return {**container, "ready": False, "started": False, "state": {"terminated": shown}}
