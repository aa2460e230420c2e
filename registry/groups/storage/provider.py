"""Provider: the kinds of the group storage.k8s.io."""

from aio_apiserver.registry.generic.group import APIGroup
from aio_apiserver.registry.generic.store.provider import KindsProvider
from aio_apiserver.registry.groups.storage.csidrivers import CSIDRIVERS
from aio_apiserver.registry.groups.storage.csinodes import CSINODES
from aio_apiserver.registry.groups.storage.csistoragecapacities import CSISTORAGECAPACITIES
from aio_apiserver.registry.groups.storage.storageclasses import STORAGECLASSES
from aio_apiserver.registry.groups.storage.volumeattachments import VOLUMEATTACHMENTS
from aio_apiserver.registry.groups.storage.volumeattributesclasses import VOLUMEATTRIBUTESCLASSES

KINDS = (
    CSIDRIVERS,
    CSINODES,
    CSISTORAGECAPACITIES,
    STORAGECLASSES,
    VOLUMEATTACHMENTS,
    VOLUMEATTRIBUTESCLASSES,
)

PROVIDER = KindsProvider(
    group=APIGroup(name="storage.k8s.io", priority=16800, versions={"v1": 15, "v1beta1": 9}), kinds=KINDS
)
