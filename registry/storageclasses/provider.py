"""The storage.k8s.io group: its kinds."""

from registry.generic.provider import KindsProvider
from registry.storageclasses.csidrivers import CSIDRIVERS
from registry.storageclasses.csinodes import CSINODES
from registry.storageclasses.csistoragecapacities import CSISTORAGECAPACITIES
from registry.storageclasses.storageclasses import STORAGECLASSES
from registry.storageclasses.volumeattachments import VOLUMEATTACHMENTS
from registry.storageclasses.volumeattributesclasses import VOLUMEATTRIBUTESCLASSES

KINDS = (
    CSIDRIVERS,
    CSINODES,
    CSISTORAGECAPACITIES,
    STORAGECLASSES,
    VOLUMEATTACHMENTS,
    VOLUMEATTRIBUTESCLASSES,
)

PROVIDER = KindsProvider(group="storage.k8s.io", kinds=KINDS)
