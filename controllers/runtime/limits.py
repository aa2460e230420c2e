"""Limits: the rate limits of controllers, and their numbers of workers.

Pure: the values of kube-controller-manager's flags of the same names.
"""

from collections.abc import Mapping

from msgspec import Struct

NO_LIMIT = -1.0
"""The rate for no limit."""


class Limits(Struct, frozen=True):
    """qps, burst: of the client of each controller. workers: by the name of the controller."""

    qps: float
    burst: int
    workers: Mapping[str, int]
