"""CertificateApproval: an approval needs the verb `approve` on the signer that the CertificateSigningRequest names."""

from aio_apiserver.registry.generic.access.authorizer import Authorizer
from aio_apiserver.registry.generic.admission.interface import Attributes, Operation, Plugin
from aio_apiserver.registry.plugins.admission.certificates import signer_rights


class CertificateApproval(Plugin):
    """Authorizes the verb `approve` for updates of the subresource approval."""

    name = "CertificateApproval"
    operations = frozenset({Operation.UPDATE})
    resources = frozenset({signer_rights.REQUESTS})

    def __init__(self, authorizer: Authorizer) -> None:
        self._authorizer = authorizer

    async def validate(self, attributes: Attributes) -> None:
        if attributes.resource == signer_rights.REQUESTS and attributes.subresource == "approval":
            await signer_rights.check(self._authorizer, attributes, "approve")
