"""The flowcontrol.apiserver.k8s.io group: its kinds."""

from registry.flowcontrol.flowschemas import FLOWSCHEMAS
from registry.flowcontrol.prioritylevelconfigurations import PRIORITYLEVELCONFIGURATIONS
from registry.generic.provider import KindsProvider

GROUP = "flowcontrol.apiserver.k8s.io"

PROVIDER = KindsProvider(group=GROUP, kinds=(FLOWSCHEMAS, PRIORITYLEVELCONFIGURATIONS))
