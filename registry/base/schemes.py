"""Schemes: the three servers in one that kube-apiserver is, as its messages name them, by the groups that each knows.

Pure. Must hold: a group is in one scheme.
"""

from collections.abc import Mapping

_OWN: Mapping[str, str] = {
    "apiextensions.k8s.io": "pkg/apiserver/apiserver.go:55",
    "apiregistration.k8s.io": "pkg/apiserver/scheme/scheme.go:28",
}
_ALL_OTHERS = "pkg/api/legacyscheme/scheme.go:30"


def scheme_of(group: str) -> str:
    """Where a group is known."""
    return _OWN.get(group, _ALL_OTHERS)
