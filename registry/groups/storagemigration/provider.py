"""Provider: the kinds of the group storagemigration.k8s.io."""

from aio_apiserver.registry.generic.group import APIGroup
from aio_apiserver.registry.generic.store.provider import KindsProvider
from aio_apiserver.registry.groups.storagemigration.storageversionmigrations import STORAGEVERSIONMIGRATIONS

GROUP = "storagemigration.k8s.io"

PROVIDER = KindsProvider(group=APIGroup(name=GROUP, priority=15800, since=(1, 37)), kinds=(STORAGEVERSIONMIGRATIONS,))
