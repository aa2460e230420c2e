"""The apps group: its kinds."""

from aio_apiserver.registry.apps.controllerrevisions import CONTROLLERREVISIONS
from aio_apiserver.registry.apps.daemonsets import DAEMONSETS
from aio_apiserver.registry.apps.deployments import DEPLOYMENTS
from aio_apiserver.registry.apps.replicasets import REPLICASETS
from aio_apiserver.registry.apps.statefulsets import STATEFULSETS
from aio_apiserver.registry.generic.provider import KindsProvider

KINDS = (CONTROLLERREVISIONS, DAEMONSETS, DEPLOYMENTS, REPLICASETS, STATEFULSETS)

PROVIDER = KindsProvider(group="apps", kinds=KINDS)
