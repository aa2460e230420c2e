"""The flowcontrol.apiserver.k8s.io group: its kinds."""

from aio_apiserver.registry.generic.store.provider import KindsProvider
from aio_apiserver.registry.groups.flowcontrol.flowschemas import FLOWSCHEMAS
from aio_apiserver.registry.groups.flowcontrol.prioritylevelconfigurations import PRIORITYLEVELCONFIGURATIONS

GROUP = "flowcontrol.apiserver.k8s.io"

PROVIDER = KindsProvider(group=GROUP, kinds=(FLOWSCHEMAS, PRIORITYLEVELCONFIGURATIONS))
