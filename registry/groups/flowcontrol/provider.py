"""Provider: the kinds of the group flowcontrol.apiserver.k8s.io."""

from aio_apiserver.registry.generic.group import APIGroup
from aio_apiserver.registry.generic.store.provider import KindsProvider
from aio_apiserver.registry.groups.flowcontrol.flowschemas import FLOWSCHEMAS
from aio_apiserver.registry.groups.flowcontrol.prioritylevelconfigurations import PRIORITYLEVELCONFIGURATIONS

GROUP = "flowcontrol.apiserver.k8s.io"

PROVIDER = KindsProvider(
    group=APIGroup(name=GROUP, priority=16100, versions={"v1": 21}), kinds=(FLOWSCHEMAS, PRIORITYLEVELCONFIGURATIONS)
)
