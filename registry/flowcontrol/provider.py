"""The flowcontrol.apiserver.k8s.io group: its kinds."""

from aio_apiserver.registry.flowcontrol.flowschemas import FLOWSCHEMAS
from aio_apiserver.registry.flowcontrol.prioritylevelconfigurations import PRIORITYLEVELCONFIGURATIONS
from aio_apiserver.registry.generic.provider import KindsProvider

GROUP = "flowcontrol.apiserver.k8s.io"

PROVIDER = KindsProvider(group=GROUP, kinds=(FLOWSCHEMAS, PRIORITYLEVELCONFIGURATIONS))
