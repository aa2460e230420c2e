"""minors: the view of one Kubernetes minor: its version, and the feature gates that are open in a server of it.

The server makes one at its start, from --kubernetes-version, --feature-gates and --emulated-version, and hands it down.
`is_open` is the one question about a gate. Assembly asks it, and no request does. A field, kind or plugin names its
gate beside its own declaration. Must hold: two servers of different minors in one process share the table of facts and
no view.
"""

from collections.abc import Mapping
from functools import cache

from msgspec import Struct

from aio_apiserver.registry.base import gates, timeline
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.timeline import DEFAULT, Version


class Minor(Struct, frozen=True):
    """One minor. Two of the same version and gates are equal.

    feature_gates: the values of --feature-gates. emulated: the older version whose gates count.
    """

    version: Version = DEFAULT
    feature_gates: tuple[str, ...] = ()
    emulated: Version | None = None

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
        """The gates of the minor, as configured."""
        return _gates(self)

    def check(self) -> None:
        """Raises ValueError for feature gates that kube-apiserver refuses."""
        _gates(self)

    def is_open(self, gate: str) -> bool:
        """Whether a feature gate is known and open. `Gate@1.35` speaks of one minor alone."""
        gate, _, only = gate.partition("@")
        return only in ("", self.text) and self.gates.is_known(gate) and self.gates.is_open(gate)

    def is_closed(self, gate: str) -> bool:
        """Whether a feature gate is known and closed."""
        gate, _, only = gate.partition("@")
        return only in ("", self.text) and self.gates.is_known(gate) and not self.gates.is_open(gate)


@cache
def _gates(minor: Minor) -> gates.Gates:
    return gates.Gates(gates.parse(minor.feature_gates), minor.emulated or minor.version, minor.version)


_RELEASE = 'docs/minors.md, "The release"'
KNOWN: Mapping[str, Minor] = {timeline.text_of(version): Minor(version) for version in timeline.PATCHES}
"""The minors that --kubernetes-version takes, oldest first."""


def parse(text: str) -> Minor:
    """The minor of a text such as 1.36 or v1.36; the default when it is empty. Raises ValueError."""
    if not text:
        return Minor()
    found = KNOWN.get(text.removeprefix("v"))
    if found is None:
        known = ", ".join(KNOWN)
        raise ValueError(f"this server cannot be Kubernetes {quote(text)}: it can be {known} ({_RELEASE})")
    return found
