"""Versions: the order of API versions: v10, v2, v1beta2, v1alpha1, then names of another form. Pure."""

import re

_KUBERNETES = re.compile("v([1-9][0-9]*)(?:(alpha|beta)([1-9][0-9]*))?")
_STABILITY = {None: 2, "beta": 1, "alpha": 0}


def priority(version: str) -> tuple[int, int, int, int, str]:
    """A sort key for versions, the preferred one first."""
    found = _KUBERNETES.fullmatch(version)
    if found is None:
        return 1, 0, 0, 0, version
    major, stability, minor = found.groups()
    return 0, -_STABILITY[stability], -int(major), -int(minor or 0), ""
