"""Lanes: the flow of a request: its flow schema, its flow distinguisher and its priority level.

The flow distinguisher is the user or the namespace, as the schema says. Must hold: requests that match alike are
classified once for each state of the configuration. Requests with long names or paths are classified each time, so that
the remembered texts of clients stay below 4 MiB.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from aio_apiserver.registry.generic.access.authorizer import Attributes
from aio_apiserver.registry.generic.access.users import ALL_UNAUTHENTICATED, UserInfo
from aio_apiserver.registry.groups.flowcontrol.classification import Classifier, Flow, FlowSchema
from aio_apiserver.registry.plugins.flowcontrol.flow_metrics import FlowMetrics, FlowSeries
from aio_apiserver.registry.plugins.flowcontrol.priority_level import PriorityLevel
from aio_apiserver.registry.plugins.flowcontrol.tickets import ANONYMOUS_PRECEDENCE, Queue

_MOST_REMEMBERED = 4096
_LONGEST_REMEMBERED = 1024
"""The characters of a remembered request: its user, groups and attributes."""

ClassifiedRequest = tuple[str, str, str, str, str, str]
"""The attributes of a request: verb, path, group, namespace, resource, subresource. The path is empty for resource
requests. A plain tuple, because each request makes one.
"""
_Key = tuple[str, Sequence[str], ClassifiedRequest]


class Lane(NamedTuple):
    """One flow. hand: the queues that it may use. flow: for response headers; None while the objects have no UIDs.
    precedence: the matchingPrecedence of the schema; ANONYMOUS_PRECEDENCE for requests without a user.
    """

    schema: str
    distinguisher: str
    level: PriorityLevel
    hand: Sequence[Queue]
    series: FlowSeries
    flow: Flow | None
    precedence: int


class Lanes:
    """Lanes for one state of the configuration."""

    def __init__(
        self, schemas: Iterable[FlowSchema], levels: Mapping[str, PriorityLevel], metrics: FlowMetrics
    ) -> None:
        self._levels = levels
        self._classifier = Classifier(schemas, levels)
        self._metrics = metrics
        self._remembered: dict[_Key, Lane] = {}

    def of(self, user: UserInfo, classified: ClassifiedRequest) -> Lane:
        """The lane of a request."""
        key = user.name, user.groups, classified
        try:
            return self._remembered[key]
        except KeyError:
            lane = self._find(user, classified)
            self._remember(key, lane)
            return lane
        except TypeError:  # groups in a list
            return self._find(user, classified)

    def _remember(self, key: _Key, lane: Lane) -> None:
        name, groups, classified = key
        if len(name) + sum(map(len, groups)) + sum(map(len, classified)) > _LONGEST_REMEMBERED:
            return
        if len(self._remembered) >= _MOST_REMEMBERED:
            self._remembered.clear()
        self._remembered[key] = lane

    def _find(self, user: UserInfo, classified: ClassifiedRequest) -> Lane:
        verb, path, group, namespace, resource, subresource = classified
        attributes = Attributes(
            user, verb, group, "", resource, subresource, namespace, path=path, is_resource=not path
        )
        schema = self._classifier.schema_of(attributes)
        level = self._levels[schema.level]
        distinguisher = {"ByUser": user.name, "ByNamespace": namespace}.get(schema.distinguisher, "")
        return Lane(
            schema.name,
            distinguisher,
            level,
            level.hand(schema.name, distinguisher),
            self._metrics.of(level.config.name, schema.name),
            Flow(schema.uid, level.config.uid) if schema.uid and level.config.uid else None,
            ANONYMOUS_PRECEDENCE if ALL_UNAUTHENTICATED in user.groups else schema.precedence,
        )
