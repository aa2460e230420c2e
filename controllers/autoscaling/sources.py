"""Sources: asks the metrics APIs for an autoscaler: metrics.k8s.io, custom and external metrics.

An aggregated server answers where an APIService names one. A simulated cluster without one has the values of
annotations. Amounts are in thousandths.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from msgspec import Struct

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.autoscaling import targets as autoscaling_targets
from aio_apiserver.controllers.autoscaling.pod_usage import Uncountable, thousandths
from aio_apiserver.controllers.runtime.client import ControllerClient, NotServed
from aio_apiserver.controllers.runtime.pods import phase
from aio_apiserver.controllers.runtime.remote_client import RemoteClient, items_of
from aio_apiserver.controllers.runtime.resources import NAMESPACES, POD_METRICS, PODS
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.base.golang.decode_errors import DecodeError
from aio_apiserver.registry.base.names import GroupResource
from aio_apiserver.registry.generic.aggregated import AggregatedServers
from aio_apiserver.registry.machinery.selectors.texts import selector_text
from aio_apiserver.registry.plugins.simulation import annotations

CUSTOM, EXTERNAL = "custom.metrics.k8s.io", "external.metrics.k8s.io"
_CUSTOM_VERSIONS, _EXTERNAL_VERSION = ("v1beta2", "v1beta1"), "v1beta1"
_FROM_CUSTOM = "unable to fetch metrics from custom metrics API: "
_FROM_EXTERNAL = "unable to fetch metrics from external metrics API: "
_FROM_RESOURCES = "unable to fetch metrics from resource metrics API: "
_NO_CUSTOM = f"{_FROM_CUSTOM}no custom metrics API ({CUSTOM}) registered"
_NOT_ONE = "the custom metrics API server returned {} results when we asked for exactly one"
_MALFORMED = (KeyError, TypeError, ValueError, AttributeError, DecodeError)


@contextmanager
def well_formed(source: str) -> Iterator[None]:
    """Read an answer of an aggregated server, which may have any form. Raises Uncountable."""
    try:
        yield
    except _MALFORMED as exc:
        raise Uncountable(f"{source}the response is malformed: {type(exc).__name__}: {exc}") from exc


class MetricSources(Struct, frozen=True):
    """The metrics of one cluster. is_simulated: whether annotations count."""

    client: ControllerClient
    aggregated: AggregatedServers
    is_simulated: bool

    async def resources(self, namespace: str, selector: str) -> Sequence[Object]:
        """The PodMetrics of selected pods. Raises Uncountable."""
        try:
            listed = await self.client.list(POD_METRICS, namespace)
        except NotServed:
            group, version, segments = POD_METRICS.group, POD_METRICS.version, ("namespaces", namespace, "pods")
            try:
                return items_of(await self._remote.get(group, version, segments, labelSelector=selector))
            except errors.StatusError as exc:
                raise Uncountable(_FROM_RESOURCES + str(exc)) from exc
        except errors.StatusError as exc:
            raise Uncountable(_FROM_RESOURCES + str(exc)) from exc
        selects = autoscaling_targets.selects(selector)
        return [one for one in listed if selects(one["metadata"].get("labels") or {})]

    async def of_pods(self, namespace: str, metric: Object, selector: str, pods: Sequence[Object]) -> Mapping[str, int]:
        """The values of a metric by the names of the pods. Raises Uncountable."""
        version = self._custom_version()
        if not version:
            return self._stated_for([pod for pod in pods if phase(pod) == "Running"], metric["name"], PODS.path)
        segments = ("namespaces", namespace, "pods", "*", metric["name"])
        found = await self._custom(version, segments, metric, labelSelector=selector)
        if not found:
            raise Uncountable("no metrics returned from custom metrics API")
        with well_formed(_FROM_CUSTOM):
            return {one["describedObject"]["name"]: thousandths(one["value"]) for one in found}

    async def of_object(self, namespace: str, metric: Object, described: Object) -> int:
        """The value of a metric of an object; that of a namespace is its own. Raises Uncountable."""
        try:
            place = self.client.place_of(described.get("apiVersion", ""), described["kind"])
        except errors.StatusError as exc:
            raise Uncountable(f"{_FROM_CUSTOM}unable to map kind {described['kind']} to resource: {exc}") from exc
        is_namespace, name = place == NAMESPACES, described["name"]
        version = self._custom_version()
        if not version:
            found = await self.client.get(place, namespace if is_namespace else f"{namespace}/{name}")
            return next(iter(self._stated_for([found] if found else [], metric["name"], place.path).values()))
        about = ("metrics",) if is_namespace else (str(GroupResource(place.group, place.path)), name)
        values = await self._custom(version, ("namespaces", namespace, *about, metric["name"]), metric)
        if len(values) != 1:
            raise Uncountable(f"{_FROM_CUSTOM}{_NOT_ONE.format(len(values))}")
        with well_formed(_FROM_CUSTOM):
            return thousandths(values[0]["value"])

    async def external(self, namespace: str, metric: Object) -> Sequence[int]:
        """The values of a metric from outside of the cluster. Raises Uncountable."""
        name = metric["name"]
        if self.is_simulated and not self.aggregated.versions_of(EXTERNAL):
            owner = await self.client.get(NAMESPACES, namespace)
            stated = annotations.values(_annotation(owner or {}, annotations.EXTERNAL_METRICS))
            if name in stated:
                return [thousandths(stated[name])]
        try:
            selector = selector_text(metric.get("selector"))
            segments = ("namespaces", namespace, name)
            found = items_of(await self._remote.get(EXTERNAL, _EXTERNAL_VERSION, segments, labelSelector=selector))
        except errors.StatusError as exc:
            raise Uncountable(_FROM_EXTERNAL + str(exc)) from exc
        if not found:
            raise Uncountable("no metrics returned from external metrics API")
        with well_formed(_FROM_EXTERNAL):
            return [thousandths(one["value"]) for one in found]

    @property
    def _remote(self) -> RemoteClient:
        return RemoteClient(self.aggregated, self.client.user)

    def _custom_version(self) -> str:
        """The version of custom.metrics.k8s.io to ask, as kube-controller-manager chooses it.

        Empty when annotations have the values. Raises Uncountable.
        """
        served = self.aggregated.versions_of(CUSTOM)
        known = [version for version in served if version in _CUSTOM_VERSIONS]
        if served and not known:
            raise Uncountable(f"{_FROM_CUSTOM}no known available metric versions found")
        if not known and not self.is_simulated:
            raise Uncountable(_NO_CUSTOM)
        return known[0] if known else ""

    def _stated_for(self, objs: Sequence[Object], name: str, resource: str) -> Mapping[str, int]:
        """The values that annotations of objects state, by the names of the objects. Raises Uncountable."""
        stated = {one["metadata"]["name"]: annotations.values(_annotation(one, annotations.METRICS)) for one in objs}
        found = {key: thousandths(values[name]) for key, values in stated.items() if name in values}
        if not any(stated.values()):
            raise Uncountable(_NO_CUSTOM)
        if not found:
            raise Uncountable(f"{_FROM_CUSTOM}the server could not find the metric {name} for {resource}")
        return found

    async def _custom(self, version: str, segments: Sequence[str], metric: Object, **query: str) -> Sequence[Object]:
        """The values from an aggregated server. Raises Uncountable."""
        selector = selector_text(metric.get("selector"))
        try:
            return items_of(await self._remote.get(CUSTOM, version, segments, **query, metricLabelSelector=selector))
        except errors.StatusError as exc:
            raise Uncountable(_FROM_CUSTOM + str(exc)) from exc


def _annotation(obj: Object, name: str) -> str:
    text: str = ((obj.get("metadata") or {}).get("annotations") or {}).get(name, "")
    return text
