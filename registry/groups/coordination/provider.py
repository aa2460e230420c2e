"""Provider: the kinds of the group coordination.k8s.io."""

from aio_apiserver.registry.generic.group import APIGroup
from aio_apiserver.registry.generic.store.provider import KindsProvider
from aio_apiserver.registry.groups.coordination.leases import LEASES

PROVIDER = KindsProvider(group=APIGroup(name="coordination.k8s.io", priority=16500), kinds=(LEASES,))
