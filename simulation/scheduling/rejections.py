"""Rejections: why nodes do not take a pod, and the message that kube-scheduler makes of it.

Pure. Must hold: reasons are counted once for each node, and sorted as text.
"""

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from msgspec import Struct, field

NO_NODES = "no nodes available to schedule pods"
_NOT_HELPFUL = "Preemption is not helpful for scheduling"


class Rejection(NamedTuple):
    """The reasons of one node. `is_final`: whether the removal of pods cannot change it."""

    reasons: tuple[str, ...]
    is_final: bool = False


def final(reason: str) -> Rejection:
    return Rejection((reason,), True)


def passing(reason: str) -> Rejection:
    """A rejection that ends when pods leave the node."""
    return Rejection((reason,))


class Diagnosis(Struct):
    """The rejections of one attempt. `total`: the number of nodes; `before`: a reason that concerns all of them."""

    total: int
    nodes: dict[str, Rejection] = field(default_factory=dict)
    before: str = ""
    others: str = ""
    """The reason of the nodes that were not looked at."""

    def message(self, *after: str) -> str:
        """The message. `after`: what the scheduler tried to make room."""
        if not self.total:
            return NO_NODES
        text = f"0/{self.total} nodes are available:"
        if self.before:
            text += f" {self.before}."
        elif shown := _histogram(self.nodes, self.others, self.total):
            text += f" {shown}."
        more = ", ".join(filter(None, after))
        return f"{text} {more}" if more else text

    @property
    def hopeful(self) -> list[str]:
        """The nodes that preemption may help."""
        return [name for name, one in self.nodes.items() if not one.is_final]


def _histogram(nodes: Mapping[str, Rejection], others: str, total: int) -> str:
    reasons = Counter(reason for one in nodes.values() for reason in one.reasons)
    if others and len(nodes) < total:
        reasons[others] += total - len(nodes)
    return ", ".join(sorted(f"{number} {reason}" for reason, number in reasons.items()))


def not_preempted(rejected: Mapping[str, Rejection], total: int) -> str:
    """The message of a preemption without a result."""
    return Diagnosis(total, dict(rejected), others=_NOT_HELPFUL).message()
