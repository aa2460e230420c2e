"""Limits: how much the controllers of a server may ask for, and how many keys each looks at side by side.

Pure: what kube-controller-manager's flags of the same names say.
"""

from collections.abc import Mapping

from msgspec import Struct

NO_LIMIT = -1.0
"""A rate of requests that limits nothing."""


class Limits(Struct, frozen=True):
    """qps, burst: of each controller's client. workers: by the name of the controller."""

    qps: float
    burst: int
    workers: Mapping[str, int]
