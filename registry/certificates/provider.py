"""The certificates.k8s.io group: its kinds."""

from collections.abc import Mapping

from registry.certificates.certificatesigningrequests import APPROVAL, CERTIFICATESIGNINGREQUESTS
from registry.generic.provider import KindsProvider
from registry.generic.status import SubresourceREST
from registry.generic.store import Store
from registry.rest import Environment, RESTStorage

GROUP = "certificates.k8s.io"


def _extras(stores: Mapping[str, Store], _environment: Environment) -> Mapping[str, Mapping[str, RESTStorage]]:
    plural = CERTIFICATESIGNINGREQUESTS.plural
    return {"v1": {f"{plural}/approval": SubresourceREST(stores[plural], "approval", APPROVAL)}}


PROVIDER = KindsProvider(group=GROUP, kinds=(CERTIFICATESIGNINGREQUESTS,), extras=_extras)
