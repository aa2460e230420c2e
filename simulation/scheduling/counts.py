"""Counts: numbers of pods by node and by domain, kept while pods come and go.

Pure. A domain is a value of a node label, such as a zone. Counts by domain are made at their first use and kept from
then on; a change of the labels of a node drops them.

    pods by node      a: 2, b: 1            labels of nodes    a: zone=x, b: zone=x
    domains of zone   x: 3                  a new pod on b:    x: 4
"""

from collections import Counter
from collections.abc import Callable, Mapping

from aio_apiserver.simulation.scheduling.terms import Labels

LabelsOf = Callable[[str], Labels]
"""The labels of a node by name."""


class DomainCounts:
    """The counts of one kind of pods."""

    def __init__(self, labels_of: LabelsOf) -> None:
        self._labels_of = labels_of
        self.by_node: Counter[str] = Counter()
        self._domains: dict[str, Counter[str]] = {}

    def add(self, node: str, number: int) -> None:
        """Count so many more pods on a node."""
        self.by_node[node] += number
        if not self.by_node[node]:
            del self.by_node[node]
        for key, domains in self._domains.items():
            self._count(domains, self._labels_of(node).get(key), number)

    def domains(self, key: str) -> Mapping[str, int]:
        """The counts by value of a label. Values without pods are absent."""
        found = self._domains.get(key)
        if found is None:
            found = self._domains[key] = Counter()
            for node, number in self.by_node.items():
                self._count(found, self._labels_of(node).get(key), number)
        return found

    def forget_domains(self) -> None:
        """The labels of a node have changed."""
        self._domains.clear()

    def _count(self, domains: Counter[str], value: str | None, number: int) -> None:
        if value is None:
            return
        domains[value] += number
        if not domains[value]:
            del domains[value]
