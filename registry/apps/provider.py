"""The apps group: its kinds."""

from registry.apps.controllerrevisions import CONTROLLERREVISIONS
from registry.apps.daemonsets import DAEMONSETS
from registry.apps.deployments import DEPLOYMENTS
from registry.apps.replicasets import REPLICASETS
from registry.apps.statefulsets import STATEFULSETS
from registry.generic.provider import KindsProvider

KINDS = (CONTROLLERREVISIONS, DAEMONSETS, DEPLOYMENTS, REPLICASETS, STATEFULSETS)

PROVIDER = KindsProvider(group="apps", kinds=KINDS)
