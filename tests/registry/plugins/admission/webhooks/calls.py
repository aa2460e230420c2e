"""Shared by the tests of admission webhooks: webhook programs, and configurations for them."""

import base64
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import orjson
from msgspec.structs import replace

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.registry.base.names import GroupResource, GroupVersionKind
from aio_apiserver.registry.generic.access.always import AlwaysAllow
from aio_apiserver.registry.generic.access.authorizer import Authorizer
from aio_apiserver.registry.generic.admission.interface import Attributes, Plugin
from aio_apiserver.registry.generic.metric_sets import MetricSets
from aio_apiserver.registry.generic.resource import resource_of
from aio_apiserver.registry.generic.rest import Foundation
from aio_apiserver.registry.groups.admissionregistration.mutatingwebhookconfigurations import (
    MUTATINGWEBHOOKCONFIGURATIONS,
)
from aio_apiserver.registry.groups.admissionregistration.validatingwebhookconfigurations import (
    VALIDATINGWEBHOOKCONFIGURATIONS,
)
from aio_apiserver.registry.machinery import schema
from aio_apiserver.registry.plugins.admission.webhooks.mutating import MutatingAdmissionWebhook
from aio_apiserver.registry.plugins.admission.webhooks.validating import ValidatingAdmissionWebhook
from aio_apiserver.storage.factory.factory import StorageConfig, StorageFactory
from tests.registry.plugins.admission.writes import write

Answer = Callable[[Mapping[str, Any]], Mapping[str, Any]]

CONFIGMAPS = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"]}
KINDS = {
    MutatingAdmissionWebhook: MUTATINGWEBHOOKCONFIGURATIONS,
    ValidatingAdmissionWebhook: VALIDATINGWEBHOOKCONFIGURATIONS,
}


@dataclass
class Programs:
    """Webhooks by URL: the answer of each, and the reviews that they got, in order."""

    answers: Mapping[str, Answer]
    asked: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    """The timeout of each call."""

    async def __call__(
        self, client: Mapping[str, Any], body: dict[str, Any], *, seconds: float, plugin: str = ""
    ) -> dict[str, Any]:
        review = orjson.loads(orjson.dumps(body))
        self.asked.append((client["url"], review))
        self.seconds.append(seconds)
        said = self.answers[client["url"]](review["request"])
        response = {"uid": review["request"]["uid"], "allowed": True, **said}
        return {"apiVersion": review["apiVersion"], "kind": review["kind"], "response": response}

    @property
    def urls(self) -> Sequence[str]:
        return [url for url, _ in self.asked]


def says(**response: Any) -> Answer:
    """A program that always returns the same response."""
    return lambda _request: response


def patches(*operations: Mapping[str, Any]) -> Answer:
    """A program that returns a patch."""
    return says(patchType="JSONPatch", patch=base64.b64encode(orjson.dumps(operations)).decode())


def annotates(name: str) -> Answer:
    return patches({"op": "add", "path": f"/metadata/annotations/{name}", "value": "yes"})


def webhook(url: str, **changes: Any) -> dict[str, Any]:
    """A webhook of a configuration, with defaults."""
    return {
        "name": f"{url}.example.com",
        "clientConfig": {"url": url},
        "rules": [CONFIGMAPS],
        "matchPolicy": "Equivalent",
        "failurePolicy": "Fail",
        "sideEffects": "None",
        "timeoutSeconds": 10,
        "reinvocationPolicy": "Never",
        "admissionReviewVersions": ["v1"],
        **changes,
    }


def a_config_map(**changes: Any) -> Attributes:
    """The creation of a ConfigMap."""
    obj = {"metadata": {"name": "a", "namespace": "default", "annotations": {"x": "y"}}, "data": {"k": "v"}}
    made = write(obj, resource=GroupResource("", "configmaps"))
    return replace(made, kind=GroupVersionKind("", "v1", "ConfigMap"), **changes)


@asynccontextmanager
async def configured(
    make: type[MutatingAdmissionWebhook] | type[ValidatingAdmissionWebhook],
    programs: Programs,
    *webhooks: Mapping[str, Any],
    authorizer: Authorizer | None = None,
    metrics: MetricSets | None = None,
) -> AsyncIterator[Plugin]:
    """A plugin with one configuration."""
    async with StorageFactory(StorageConfig(), clock=ManualClock()) as factory:
        given = Foundation(
            storage_for=factory.storage_for,
            writable_storage_for=factory.storage_for,
            clock=ManualClock(),
            types=schema.builtin(),
            authorizer=authorizer or AlwaysAllow(),
            call_webhook=programs,
            metrics=metrics or MetricSets(),
        )
        configurations = factory.storage_for(resource_of(KINDS[make]))
        await configurations.create("c", {"metadata": {"name": "c"}, "webhooks": list(webhooks)})
        yield make(given)
