"""minors: the view of one Kubernetes minor: its version and the feature gates that are open in it.

The server makes one at its start, from --kubernetes-version, and hands it down. Must hold: two servers of different
minors in one process share the table of facts and no view.
"""

from collections.abc import Mapping

from msgspec import Struct

from aio_apiserver.registry.base import gates, timeline
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.timeline import DEFAULT, Version


class Minor(Struct, frozen=True):
    """One minor. Two of the same version are equal."""

    version: Version = DEFAULT

    @property
    def text(self) -> str:
        """Major and minor: 1.36."""
        return timeline.text_of(self.version)

    @property
    def git_version(self) -> str:
        """The release that the server behaves as: v1.36.4."""
        return timeline.PATCHES[self.version]

    @property
    def gates(self) -> gates.Gates:
        """The gates of the minor with their defaults."""
        return gates.Gates({}, self.version, self.version)

    def is_open(self, gate: str) -> bool:
        """Whether a feature gate is open by default."""
        return self.gates.is_open(gate)

    def is_closed(self, gate: str) -> bool:
        """Whether the minor knows a feature gate, and has it closed. `Gate@1.35` speaks of one minor alone."""
        gate, _, only = gate.partition("@")
        return only in ("", self.text) and self.gates.is_known(gate) and not self.gates.is_open(gate)


KNOWN: Mapping[str, Minor] = {timeline.text_of(version): Minor(version) for version in timeline.PATCHES}
"""The minors that --kubernetes-version takes, oldest first."""


def parse(text: str) -> Minor:
    """The minor of a text such as 1.36 or v1.36; the default when it is empty. Raises ValueError."""
    if not text:
        return Minor()
    found = KNOWN.get(text.removeprefix("v"))
    if found is None:
        raise ValueError(f"this server cannot be Kubernetes {quote(text)}: it can be {', '.join(KNOWN)}")
    return found
