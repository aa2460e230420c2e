"""The resource.k8s.io group: its kinds."""

from registry.generic.provider import KindsProvider
from registry.resource.deviceclasses import DEVICECLASSES
from registry.resource.resourceclaims import RESOURCECLAIMS
from registry.resource.resourceclaimtemplates import RESOURCECLAIMTEMPLATES
from registry.resource.resourceslices import RESOURCESLICES

GROUP = "resource.k8s.io"

KINDS = (DEVICECLASSES, RESOURCECLAIMS, RESOURCECLAIMTEMPLATES, RESOURCESLICES)

PROVIDER = KindsProvider(group=GROUP, kinds=KINDS)
