"""Key prefixes: the etcd keys of each resource, which are kube-apiserver's.

A table of exceptions and a rule. It knows groups and resources by name, no kind. The values are msgpack by default,
which kube-apiserver cannot read.

    /registry/pods/default/web                        built-in: the plural
    /registry/services/specs/default/web              built-in, with a key of its own
    /registry/apiregistration.k8s.io/apiservices/v1.  of the servers in kube-apiserver: group and plural
    /registry/stable.example.com/crontabs/default/x   custom: group and plural

Must hold: a resource that exists in two groups (events) has one prefix.
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
    """The part of the key between the server's prefix and the object, without slashes at its ends."""
    place = _PLACES.get((group, resource))
    if place is not None:
        return place
    return resource if group in _BUILT_IN_GROUPS else f"{group}/{resource}"


def key_prefix(prefix: str, group: str, resource: str, *, is_custom: bool = False) -> str:
    """The prefix of all keys of a resource below --etcd-prefix.

    A custom resource does not share the prefix of a built-in one, whatever its group is.

    >>> key_prefix("registry", "", "pods")
    '/registry/pods/'
    >>> key_prefix("registry", "networking.k8s.io", "ingresses", is_custom=True)
    '/registry/networking.k8s.io/ingresses/'
    """
    base = posixpath.normpath("/" + prefix.strip("/"))
    place = f"{group}/{resource}" if is_custom else resource_place(group, resource)
    return f"{base.rstrip('/')}/{place}/"
