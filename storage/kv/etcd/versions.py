"""Versions: etcd's server versions, and the features that depend on them.

Before 3.4.25 and 3.5.8, the answer to a progress request could overtake events that were still to come.

>>> is_progress_reliable(parse("3.5.1")), is_progress_reliable(parse("3.6.0-rc.1"))
(False, True)
"""

import re

Version = tuple[int, int, int]

SECRETIVE: Version = (3, 5, 28)
"""For servers that show their status to administrators only: such are 3.4.42, 3.5.28, 3.6.9 and some after them."""

_UNKNOWN: Version = (0, 0, 0)
_RELIABLE_PATCH = {(3, 4): 25, (3, 5): 8}
"""The first good patch release of the minors that have bad ones; minors before them have no good one."""


def parse(text: str) -> Version:
    """The numbers in a version; zeros when it has none."""
    match = re.match(r"(\d+)\.(\d+)\.(\d+)", text)
    if match is None:
        return _UNKNOWN
    major, minor, patch = map(int, match.groups())
    return major, minor, patch


def is_progress_reliable(version: Version) -> bool:
    """Whether a server of this version answers a progress request only when all events before it have been sent."""
    major, minor, patch = version
    if (major, minor) in _RELIABLE_PATCH:
        return patch >= _RELIABLE_PATCH[major, minor]
    return (major, minor) > max(_RELIABLE_PATCH)
