"""CertificateSigning: issuing a certificate needs the verb `sign` on the signer that the CertificateSigningRequest
names.

A status update that changes neither the certificate nor a condition needs no such right.
"""

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.generic.access.authorizer import Authorizer
from aio_apiserver.registry.generic.admission.interface import Attributes, Operation, Plugin
from aio_apiserver.registry.plugins.admission.certificates import signer_rights


class CertificateSigning(Plugin):
    """Authorizes the verb `sign` for updates of the status."""

    name = "CertificateSigning"
    operations = frozenset({Operation.UPDATE})
    resources = frozenset({signer_rights.REQUESTS})

    def __init__(self, authorizer: Authorizer) -> None:
        self._authorizer = authorizer

    async def validate(self, attributes: Attributes) -> None:
        if attributes.resource != signer_rights.REQUESTS or attributes.subresource != "status":
            return
        if _signed_part(attributes.obj) != _signed_part(attributes.old):
            await signer_rights.check(self._authorizer, attributes, "sign")


def _signed_part(request: Object | None) -> tuple[object, object]:
    status = (request or {}).get("status") or {}
    return status.get("certificate") or "", status.get("conditions") or []
