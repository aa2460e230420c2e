"""The storage.k8s.io group: its kinds."""

from aio_apiserver.registry.generic.provider import KindsProvider
from aio_apiserver.registry.storageclasses.csidrivers import CSIDRIVERS
from aio_apiserver.registry.storageclasses.csinodes import CSINODES
from aio_apiserver.registry.storageclasses.csistoragecapacities import CSISTORAGECAPACITIES
from aio_apiserver.registry.storageclasses.storageclasses import STORAGECLASSES
from aio_apiserver.registry.storageclasses.volumeattachments import VOLUMEATTACHMENTS
from aio_apiserver.registry.storageclasses.volumeattributesclasses import VOLUMEATTRIBUTESCLASSES

KINDS = (
    CSIDRIVERS,
    CSINODES,
    CSISTORAGECAPACITIES,
    STORAGECLASSES,
    VOLUMEATTACHMENTS,
    VOLUMEATTRIBUTESCLASSES,
)

PROVIDER = KindsProvider(group="storage.k8s.io", kinds=KINDS)
