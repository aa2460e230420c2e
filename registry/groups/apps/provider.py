"""Provider: the kinds of the group apps."""

from aio_apiserver.registry.generic.group import APIGroup
from aio_apiserver.registry.generic.store.provider import KindsProvider
from aio_apiserver.registry.groups.apps.controllerrevisions import CONTROLLERREVISIONS
from aio_apiserver.registry.groups.apps.daemonsets import DAEMONSETS
from aio_apiserver.registry.groups.apps.deployments import DEPLOYMENTS
from aio_apiserver.registry.groups.apps.replicasets import REPLICASETS
from aio_apiserver.registry.groups.apps.statefulsets import STATEFULSETS

KINDS = (CONTROLLERREVISIONS, DAEMONSETS, DEPLOYMENTS, REPLICASETS, STATEFULSETS)

PROVIDER = KindsProvider(group=APIGroup(name="apps", priority=17800), kinds=KINDS)
