"""Scheduling writes: what the scheduler writes about its decisions: bindings, conditions, nominations and events."""

from collections.abc import Callable

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime import events
from aio_apiserver.controllers.runtime.client import ControllerClient
from aio_apiserver.controllers.runtime.recorder import Recorder
from aio_apiserver.controllers.runtime.resources import PODS
from aio_apiserver.registry.groups.core.pods import pod_conditions
from aio_apiserver.simulation.scheduling.preemption import REASON

SCHEDULER = "default-scheduler"


class SchedulingWrites:
    """The writes of one scheduler."""

    def __init__(self, client: ControllerClient, recorder: Recorder, now: Callable[[], str]) -> None:
        self._client = client
        self._recorder = recorder
        self._now = now

    async def bind(self, pod: Object, node: str) -> None:
        """Raises StatusError."""
        metadata = pod["metadata"]
        binding = {
            "metadata": {"name": metadata["name"], "uid": metadata["uid"]},
            "target": {"kind": "Node", "name": node},
        }
        await self._client.post(PODS.part("binding"), metadata["name"], binding, namespace=metadata["namespace"])
        text = f"Successfully assigned {metadata['namespace']}/{metadata['name']} to {node}"
        self._say(pod, "Scheduled", text, action="Binding")

    async def tell(self, pod: Object, why: str, nominated: str = "") -> None:
        """Report why a pod has no node, and the node that is made free for it."""
        self._say(pod, "FailedScheduling", why, action="Scheduling", is_warning=True)

        def tell(present: Object) -> bool:
            condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": why}
            return self._edit(present, condition, nominated)

        await self._client.change(PODS.part("status"), pod, tell)

    async def nominate(self, pod: Object, node: str) -> None:
        """Note the node that is made free for a pod; none with an empty name."""
        await self._client.change(PODS.part("status"), pod, lambda present: self._edit(present, None, node))

    async def preempt(self, victim: Object, pod: Object, node: str) -> None:
        """Delete a pod to make room for another one."""
        message = f"{SCHEDULER}: preempting to accommodate a higher priority pod"
        condition = {"type": "DisruptionTarget", "status": "True", "reason": REASON, "message": message}
        edited = await self._client.change(
            PODS.part("status"), victim, lambda present: self._edit(present, condition, None)
        )
        if edited is not None and await self._client.delete(PODS, victim):
            text = f"Preempted by pod {pod['metadata']['uid']} on node {node}"
            self._say(victim, "Preempted", text, action="Preempting")

    def _edit(self, present: Object, condition: Object | None, nominated: str | None) -> bool:
        before = present.get("status") or {}
        status = {**before, "conditions": [dict(one) for one in before.get("conditions") or ()]}
        if condition is not None:
            pod_conditions.put(status, condition, now=self._now())
        if nominated:
            status["nominatedNodeName"] = nominated
        elif nominated is not None:
            status.pop("nominatedNodeName", None)
        present["status"] = status
        return status != before

    def _say(self, pod: Object, reason: str, text: str, *, action: str, is_warning: bool = False) -> None:
        about = events.reference(pod, "v1", "Pod")
        self._recorder.say(about, reason, text, is_warning=is_warning, host=SCHEDULER, action=action)
