"""Signer rights: authorization of a user for a certificate signer, shared by the certificate plugins."""

from aio_apiserver.registry.base import errors, objects
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.generic.access.authorizer import Authorizer
from aio_apiserver.registry.generic.admission.interface import Attributes
from aio_apiserver.registry.groups.certificates import signers
from aio_apiserver.registry.groups.certificates.certificatesigningrequests import CERTIFICATESIGNINGREQUESTS

REQUESTS = CERTIFICATESIGNINGREQUESTS.resource


async def check(authorizer: Authorizer, attributes: Attributes, verb: str) -> None:
    """Check that the user may use this verb on the signer in the old request. Raises Forbidden."""
    assert attributes.old is not None
    signer = objects.get(attributes.old, "spec.signerName") or ""
    if not await signers.may(authorizer, attributes.user, verb, signer):
        why = f"user not permitted to {verb} requests with signerName {quote(signer)}"
        raise errors.Forbidden(REQUESTS, attributes.name, why=why)
