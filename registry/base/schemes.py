"""Schemes: the Go scheme that decodes an API group, which kube-apiserver names in some messages.

kube-apiserver consists of three servers with a scheme each; a group names its own in its types.json. Must hold: a group
is in one scheme.
"""

from aio_apiserver.registry.base import type_facts


def scheme_of(group: str) -> str:
    """The Go file and line of the group's scheme."""
    return type_facts.of_group(group).scheme
