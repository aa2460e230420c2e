"""Ephemeral volumes: makes the PersistentVolumeClaims of pods with generic ephemeral volumes."""

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime import events
from aio_apiserver.controllers.runtime.client import key_of
from aio_apiserver.controllers.runtime.controller import Controller
from aio_apiserver.controllers.runtime.pods import is_ending
from aio_apiserver.controllers.runtime.resources import PERSISTENT_VOLUME_CLAIMS, PODS
from aio_apiserver.controllers.volumes import pod_volumes
from aio_apiserver.registry.base.errors import AlreadyExists


class EphemeralVolumes(Controller):
    """The pods own the claims, so that the garbage collector deletes them."""

    name = "ephemeral-volume-controller"
    component = "ephemeral_volume"

    def begin(self) -> None:
        self._pods = self.follow(PODS, lambda pod: key_of(pod) if pod_volumes.ephemeral_claims(pod) else "")
        self._claims = self.follow(PERSISTENT_VOLUME_CLAIMS)

    async def reconcile(self, key: str) -> float | None:
        pod = self._pods.get(key)
        if pod is None or is_ending(pod):
            return None
        for claim in pod_volumes.ephemeral_claims(pod):
            await self._ensure(pod, claim)
        return None

    async def _ensure(self, pod: Object, claim: Object) -> None:
        namespace, name = pod["metadata"]["namespace"], claim["metadata"]["name"]
        present = self._claims.get(f"{namespace}/{name}")
        if present is None:
            try:
                await self.client.create(PERSISTENT_VOLUME_CLAIMS, claim, namespace=namespace)
            except AlreadyExists:
                self.queue.add(key_of(pod))
        elif pod_volumes.is_foreign(present, pod):
            about = events.reference(pod, "v1", "Pod")
            text = f'PVC "{namespace}/{name}" was not created for pod "{key_of(pod)}" (pod is not owner)'
            self.recorder.say(about, "EphemeralVolumeInvalid", text, is_warning=True)
