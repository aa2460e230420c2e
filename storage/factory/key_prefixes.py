"""Where the objects of each resource are kept: kube-apiserver's own keys, so that either server reads the other's data.

A table of facts and the rule behind it. Knows groups and resources by name, no kind.

    /registry/pods/default/web                        built in: the plural
    /registry/services/specs/default/web              built in, with a place of its own
    /registry/apiregistration.k8s.io/apiservices/v1.  of the servers that kube-apiserver is made of: group and plural
    /registry/stable.example.com/crontabs/default/x   custom: group and plural

Must hold: resources that are one and the same behind two groups (events) have one place.
"""

import posixpath

_PLACES = {
    ("", "endpoints"): "services/endpoints",
    ("", "nodes"): "minions",
    ("", "replicationcontrollers"): "controllers",
    ("", "services"): "services/specs",
    ("extensions", "ingresses"): "ingress",
    ("networking.k8s.io", "ingresses"): "ingress",
}

_BUILT_IN_GROUPS = frozenset(
    {
        "",
        "admissionregistration.k8s.io",
        "apps",
        "authentication.k8s.io",
        "authorization.k8s.io",
        "autoscaling",
        "batch",
        "certificates.k8s.io",
        "coordination.k8s.io",
        "discovery.k8s.io",
        "events.k8s.io",
        "extensions",
        "flowcontrol.apiserver.k8s.io",
        "imagepolicy.k8s.io",
        "internal.apiserver.k8s.io",
        "networking.k8s.io",
        "node.k8s.io",
        "policy",
        "rbac.authorization.k8s.io",
        "resource.k8s.io",
        "scheduling.k8s.io",
        "storage.k8s.io",
        "storagemigration.k8s.io",
    }
)


def resource_place(group: str, resource: str) -> str:
    """The part of the keys between the server's prefix and the object, without slashes around it."""
    place = _PLACES.get((group, resource))
    if place is not None:
        return place
    return resource if group in _BUILT_IN_GROUPS else f"{group}/{resource}"


def key_prefix(prefix: str, group: str, resource: str, *, is_custom: bool = False) -> str:
    """What all keys of a resource start with, under the server's prefix (--etcd-prefix).

    A custom resource is never kept where a built-in one is, whatever its group is called.

    >>> key_prefix("registry", "", "pods")
    '/registry/pods/'
    >>> key_prefix("registry", "networking.k8s.io", "ingresses", is_custom=True)
    '/registry/networking.k8s.io/ingresses/'
    """
    base = posixpath.normpath("/" + prefix.strip("/"))
    place = f"{group}/{resource}" if is_custom else resource_place(group, resource)
    return f"{base.rstrip('/')}/{place}/"
