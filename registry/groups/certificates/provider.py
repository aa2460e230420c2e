"""Provider: the kinds and paths of the group certificates.k8s.io."""

from collections.abc import Mapping

from aio_apiserver.registry.generic.group import APIGroup
from aio_apiserver.registry.generic.rest import Environment, RESTStorage
from aio_apiserver.registry.generic.store.provider import KindsProvider
from aio_apiserver.registry.generic.store.status import SubresourceREST
from aio_apiserver.registry.generic.store.store import Store
from aio_apiserver.registry.groups.certificates.certificatesigningrequests import APPROVAL, CERTIFICATESIGNINGREQUESTS
from aio_apiserver.registry.groups.certificates.clustertrustbundles import CLUSTERTRUSTBUNDLES
from aio_apiserver.registry.groups.certificates.podcertificaterequests import PODCERTIFICATEREQUESTS

GROUP = "certificates.k8s.io"


def _extras(stores: Mapping[str, Store], _environment: Environment) -> Mapping[str, Mapping[str, RESTStorage]]:
    plural = CERTIFICATESIGNINGREQUESTS.plural
    return {"v1": {f"{plural}/approval": SubresourceREST(stores[plural], "approval", APPROVAL)}}


KINDS = (CERTIFICATESIGNINGREQUESTS, CLUSTERTRUSTBUNDLES, PODCERTIFICATEREQUESTS)

PROVIDER = KindsProvider(group=APIGroup(name=GROUP, priority=17300), kinds=KINDS, extras=_extras)
