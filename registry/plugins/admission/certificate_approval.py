"""CertificateApproval: approving takes the right to do so for the signer that the request names."""

from aio_apiserver.registry.generic.access.authorizer import Authorizer
from aio_apiserver.registry.generic.admission.interface import Attributes, Operation, Plugin
from aio_apiserver.registry.plugins.admission import signer_rights


class CertificateApproval(Plugin):
    """Asks the authorizer."""

    name = "CertificateApproval"
    operations = frozenset({Operation.UPDATE})

    def __init__(self, authorizer: Authorizer) -> None:
        self._authorizer = authorizer

    async def validate(self, attributes: Attributes) -> None:
        if attributes.resource == signer_rights.REQUESTS and attributes.subresource == "approval":
            await signer_rights.check(self._authorizer, attributes, "approve")
