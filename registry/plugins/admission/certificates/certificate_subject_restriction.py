"""CertificateSubjectRestriction: no client certificate of the API server's signer may name the group system:masters."""

import base64

from aio_apiserver.registry.base import errors
from aio_apiserver.registry.base.golang import pem
from aio_apiserver.registry.generic.access.users import MASTERS
from aio_apiserver.registry.generic.admission.interface import Attributes, Operation, Plugin
from aio_apiserver.registry.groups.certificates import signers
from aio_apiserver.registry.plugins.admission.certificates import signer_rights


class CertificateSubjectRestriction(Plugin):
    """Reads the organizations in the certificate request."""

    name = "CertificateSubjectRestriction"
    operations = frozenset({Operation.CREATE})
    resources = frozenset({signer_rights.REQUESTS})

    async def validate(self, attributes: Attributes) -> None:
        if attributes.resource != signer_rights.REQUESTS or attributes.subresource:
            return
        assert attributes.obj is not None
        spec = attributes.obj["spec"]
        if spec.get("signerName") != signers.API_SERVER_CLIENT:
            return
        try:
            request = pem.read_request(base64.b64decode(spec.get("request") or ""))
        except pem.PemError as exc:
            why = f"failed to parse CSR: {exc}"
            raise errors.Forbidden(signer_rights.REQUESTS, attributes.name, why=why) from exc
        if MASTERS in pem.organizations(request):
            why = f"use of {signers.API_SERVER_CLIENT} signer with {MASTERS} group is not allowed"
            raise errors.Forbidden(signer_rights.REQUESTS, attributes.name, why=why)
