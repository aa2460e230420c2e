"""Managed fields: measures their part in a create of a pod, by creates with and without them in alternating rounds.

A create is the registry's part: from the body to an object in a memory store. A server adds HTTP, TLS and the disk, so
the part in a request is smaller.
"""

import gc
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import orjson
from msgspec import Struct
from msgspec.structs import replace

from aio_apiserver.base.clock import SystemClock
from aio_apiserver.registry.controlplane import served_paths
from aio_apiserver.registry.controlplane.assembly import assemble, environment_of
from aio_apiserver.registry.generic.access.users import UserInfo
from aio_apiserver.registry.generic.admission.interface import Chain
from aio_apiserver.registry.generic.options import CreateOptions
from aio_apiserver.registry.generic.rest import Foundation, Request
from aio_apiserver.registry.generic.served import Served
from aio_apiserver.registry.generic.store.store import Store
from aio_apiserver.registry.machinery import schema
from aio_apiserver.storage.factory.factory import StorageConfig, StorageFactory
from benchmarks.figures import MICROSECONDS, PERCENT, Figure, at_most
from benchmarks.rounds import medians

CREATES = 500
"""Creates in a round."""
MOST = at_most(25)
_FEW, _MANY = 6, 49
"""The number of environment variables of a usual pod and of one with many owned fields."""


async def managed_fields() -> Sequence[Figure]:
    """Creates of pods."""
    return [*await _figures("a usual pod", _FEW, has_target=True), *await _figures("a pod of 49 variables", _MANY)]


async def _figures(name: str, variables: int, *, has_target: bool = False) -> Sequence[Figure]:
    async with _pods(variables) as pods:
        with_them, without = await medians(pods.microseconds, pods.without_managers().microseconds)
    share = 100 * (with_them - without) / with_them
    return [
        Figure(f"create of {name}: CPU", with_them, MICROSECONDS),
        Figure(f"create of {name}: share of managed fields", share, PERCENT, target=MOST if has_target else None),
    ]


class _Numbers:
    """The numbers of unused names."""

    def __init__(self) -> None:
        self._next = 0

    def take(self, count: int) -> range:
        taken = range(self._next, self._next + count)
        self._next += count
        return taken


class _Pods(Struct, frozen=True):
    """Creates pods in a store."""

    served: Served[Store]
    store: Store
    variables: int
    numbers: _Numbers

    def without_managers(self) -> "_Pods":
        return replace(self, store=replace(self.store, managers=None))

    async def microseconds(self) -> float:
        """The CPU time of one create."""
        bodies = [_body(number, self.variables) for number in self.numbers.take(CREATES)]
        gc.collect()
        begun = time.process_time()
        for body in bodies:
            await self._create(body)
        return 1e6 * (time.process_time() - begun) / CREATES

    async def _create(self, body: bytes) -> None:
        decoded = self.served.type.decode(orjson.loads(body), text=body)
        await self.store.create(_REQUEST, self.served.view.to_hub(decoded.obj), CreateOptions())


@asynccontextmanager
async def _pods(variables: int) -> AsyncIterator[_Pods]:
    types, clock = schema.builtin(), SystemClock()
    async with StorageFactory(StorageConfig(), clock=clock) as factory:
        groups = assemble(
            environment_of(
                Foundation(
                    storage_for=factory.storage_for, writable_storage_for=factory.storage_for, clock=clock, types=types
                )
            )
        )
        pods = served_paths.index({"": groups[""]}, types, clock).get(("", "v1", "pods"))
        assert pods is not None
        yield _Pods(pods, replace(pods.storage, admission=Chain()), variables, _Numbers())


def _say_nothing(_warning: str) -> None:
    """The benchmark ignores warnings."""


_REQUEST = Request(user=UserInfo(name="benchmark"), version="v1", warn=_say_nothing, namespace="default")


def _body(number: int, variables: int) -> bytes:
    """A pod as the ReplicaSet controller makes it."""
    owner = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "name": "web-7c5ddbdf54",
        "uid": "5f0c7d1e-8f0a-4a53-9e5e-000000000001",
        "controller": True,
        "blockOwnerDeletion": True,
    }
    container = {
        "name": "web",
        "image": "registry.example.com/web:1.0",
        "ports": [{"containerPort": 8080, "name": "http"}],
        "env": [{"name": f"SETTING_{index}", "value": f"value-{index}-of-{number}"} for index in range(variables)],
        "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "256Mi"}},
        "readinessProbe": {"httpGet": {"path": "/ready", "port": 8080}},
        "volumeMounts": [{"name": "config", "mountPath": "/etc/web"}],
    }
    return orjson.dumps(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": f"web-7c5ddbdf54-{number:06}",
                "labels": {"app": "web", "tier": "frontend", "pod-template-hash": "7c5ddbdf54"},
                "annotations": {"example.com/checksum": f"{number:064x}"},
                "ownerReferences": [owner],
            },
            "spec": {
                "serviceAccountName": "default",
                "containers": [container],
                "volumes": [{"name": "config", "configMap": {"name": "web"}}],
            },
        }
    )
