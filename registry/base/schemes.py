"""Schemes: the Go scheme that decodes an API group, which kube-apiserver names in some messages.

kube-apiserver consists of three servers with a scheme each. Pure. Must hold: a group is in one scheme.
"""

from collections.abc import Mapping

_OWN: Mapping[str, str] = {
    "apiextensions.k8s.io": "pkg/apiserver/apiserver.go:55",
    "apiregistration.k8s.io": "pkg/apiserver/scheme/scheme.go:28",
}
_ALL_OTHERS = "pkg/api/legacyscheme/scheme.go:30"


def scheme_of(group: str) -> str:
    """The Go file and line of the group's scheme."""
    return _OWN.get(group, _ALL_OTHERS)
