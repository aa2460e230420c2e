"""Provider: the kinds of the group apiregistration.k8s.io."""

from aio_apiserver.registry.generic.group import APIGroup
from aio_apiserver.registry.generic.store.provider import KindsProvider
from aio_apiserver.registry.groups.apiregistration.apiservices import APISERVICES

GROUP = "apiregistration.k8s.io"

PROVIDER = KindsProvider(group=APIGroup(name=GROUP), kinds=(APISERVICES,))
