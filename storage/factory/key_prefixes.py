"""Key prefixes: the etcd keys of each resource, which are kube-apiserver's.

It knows no kind: Resource.place is the part between --etcd-prefix and the object. The values are msgpack by default,
which kube-apiserver cannot read.

    /registry/pods/default/web                        built-in: the plural
    /registry/services/specs/default/web              built-in, with a key of its own
    /registry/apiregistration.k8s.io/apiservices/v1.  of the servers in kube-apiserver: group and plural
    /registry/stable.example.com/crontabs/default/x   custom: group and plural

"""

import posixpath


def key_prefix(prefix: str, place: str) -> str:
    """The prefix of all keys of a resource below --etcd-prefix.

    >>> key_prefix("registry", "services/specs")
    '/registry/services/specs/'
    """
    base = posixpath.normpath("/" + prefix.strip("/"))
    return f"{base.rstrip('/')}/{place}/"
