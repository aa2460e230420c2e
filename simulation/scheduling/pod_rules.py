"""Pod rules: the rules of one pod about other pods, with the counts at the start of a scheduling attempt.

Pure. They are inter-pod affinity and topology spread constraints. Rules of pods that run count as well: their
anti-affinity keeps this pod away.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct

from aio_apiserver.simulation.scheduling.cluster_view import ClusterView
from aio_apiserver.simulation.scheduling.node_views import NodeView
from aio_apiserver.simulation.scheduling.pod_views import PodView
from aio_apiserver.simulation.scheduling.rejections import Rejection, final, passing
from aio_apiserver.simulation.scheduling.spreading import Spread, spreads_of

_AFFINITY = final("node(s) didn't match pod affinity rules")
_ANTI_AFFINITY = passing("node(s) didn't match pod anti-affinity rules")
_THEIR_ANTI_AFFINITY = passing("node(s) didn't satisfy existing pods anti-affinity rules")
_SKEW = passing("node(s) didn't match pod topology spread constraints")
_NO_LABEL = final("node(s) didn't match pod topology spread constraints (missing required label)")


class Domains(NamedTuple):
    """The numbers of pods by value of a node label."""

    key: str
    counts: Mapping[str, int]


class PodRules(Struct, frozen=True):
    """The rules. `is_first`: whether the pod selects itself, and no other pod runs that its affinity selects."""

    affinity: Sequence[Domains]
    is_first: bool
    anti_affinity: Sequence[Domains]
    theirs: Sequence[Domains]
    spreads: Sequence[Spread]

    def reject(self, node: NodeView) -> Rejection | None:
        """The reason against a node; None when it takes the pod."""
        return self._skewed(node) or self._unfriendly(node)

    @property
    def has_any(self) -> bool:
        return bool(self.affinity or self.anti_affinity or self.theirs or self.spreads)

    def _skewed(self, node: NodeView) -> Rejection | None:
        for one in self.spreads:
            value = node.labels.get(one.key)
            if value is None:
                return _NO_LABEL
            if one.counts.get(value, 0) + one.own - one.least > one.max_skew:
                return _SKEW
        return None

    def _unfriendly(self, node: NodeView) -> Rejection | None:
        labels = node.labels
        if any(one.key not in labels for one in self.affinity):
            return _AFFINITY
        if not self.is_first and any(not one.counts.get(labels[one.key]) for one in self.affinity):
            return _AFFINITY
        if any(one.counts.get(labels.get(one.key, "")) for one in self.anti_affinity if one.key in labels):
            return _ANTI_AFFINITY
        if any(one.counts.get(labels.get(one.key, "")) for one in self.theirs if one.key in labels):
            return _THEIR_ANTI_AFFINITY
        return None


def rules_of(pod: PodView, view: ClusterView) -> PodRules:
    """The rules of a pod for one attempt."""
    terms = pod.terms
    together = view.selected(tuple(one.selection for one in terms.affinity)) if terms.affinity else None
    selects_itself = all(one.selection.selects(pod.namespace, pod.labels, view.namespaces) for one in terms.affinity)
    return PodRules(
        [Domains(one.key, together.domains(one.key)) for one in terms.affinity] if together is not None else (),
        together is not None and not together.by_node and selects_itself,
        [Domains(one.key, view.selected((one.selection,)).domains(one.key)) for one in terms.anti_affinity],
        [
            Domains(term.key, counts.domains(term.key))
            for term, counts in view.anti_affinity.items()
            if term.selection.selects(pod.namespace, pod.labels, view.namespaces)
        ],
        spreads_of(pod, view, "DoNotSchedule"),
    )
