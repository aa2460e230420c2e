"""Terms: pod affinity terms, and the pods that they select.

Pure. A term selects pods by namespace and by labels. Its topology key names the label of nodes that makes a domain.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import orjson
from msgspec import Struct

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.validation.label_selectors import selects

Labels = Mapping[str, str]
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


class PodSelection(Struct, frozen=True):
    """The pods that a term or a spread constraint selects. `text`: its identity."""

    text: str
    namespaces: frozenset[str]
    namespace_selector: Mapping[str, Any] | None
    labels: Mapping[str, Any] | None
    skips_ending: bool = False
    """Whether terminating pods do not count, as for spread constraints."""

    def __hash__(self) -> int:
        return hash(self.text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PodSelection) and self.text == other.text

    def selects(self, namespace: str, labels: Labels, labels_of: Mapping[str, Labels]) -> bool:
        """Whether it selects a pod. `labels_of`: the labels of each namespace."""
        is_near = namespace in self.namespaces or (
            self.namespace_selector is not None and selects(self.namespace_selector, labels_of.get(namespace, {}))
        )
        return is_near and selects(self.labels, labels)


class AffinityTerm(NamedTuple):
    """A selection and its topology key."""

    selection: PodSelection
    key: str


class WeightedTerm(NamedTuple):
    """A preference. The weight is negative for anti-affinity."""

    term: AffinityTerm
    weight: int


def selection(
    namespaces: Sequence[str],
    labels: Mapping[str, Any] | None,
    *,
    namespace_selector: Mapping[str, Any] | None = None,
    skips_ending: bool = False,
) -> PodSelection:
    """A selection by namespaces, by labels of namespaces and by labels of pods."""
    parts = [sorted(namespaces), namespace_selector, labels, skips_ending]
    text = orjson.dumps(parts, option=orjson.OPT_SORT_KEYS).decode()
    return PodSelection(text, frozenset(namespaces), namespace_selector, labels, skips_ending)


def _term(given: Mapping[str, Any], namespace: str) -> AffinityTerm:
    """A term of a pod in a namespace. Without namespaces it means the pod's own."""
    own = given.get("namespaces") or (() if given.get("namespaceSelector") is not None else (namespace,))
    found = selection(own, given.get("labelSelector"), namespace_selector=given.get("namespaceSelector"))
    return AffinityTerm(found, given["topologyKey"])


class PodTerms(Struct, frozen=True):
    """All terms of a pod."""

    affinity: Sequence[AffinityTerm] = ()
    anti_affinity: Sequence[AffinityTerm] = ()
    preferred: Sequence[WeightedTerm] = ()

    @property
    def has_any(self) -> bool:
        return bool(self.affinity or self.anti_affinity or self.preferred)


NO_TERMS = PodTerms()


def terms_of(pod: Object) -> PodTerms:
    """The terms in the spec of a pod."""
    affinity = pod["spec"].get("affinity") or {}
    near, far = affinity.get("podAffinity") or {}, affinity.get("podAntiAffinity") or {}
    if not near and not far:
        return NO_TERMS
    namespace = pod["metadata"]["namespace"]
    preferred = [
        WeightedTerm(_term(one["podAffinityTerm"], namespace), sign * int(one["weight"]))
        for given, sign in ((near, 1), (far, -1))
        for one in given.get(_PREFERRED) or ()
    ]
    return PodTerms(_required(near, namespace), _required(far, namespace), preferred)


def _required(affinity: Object, namespace: str) -> list[AffinityTerm]:
    return [_term(one, namespace) for one in affinity.get(_REQUIRED) or ()]
