"""Client certificates: the user that a certificate names, by its CommonName and Organizations.

Pure; that the certificate is to be trusted is the handshake's business.
"""

import hashlib
import ssl
from collections.abc import Iterator, Mapping
from typing import Any

from registry.access.users import UserInfo, authenticated

_UID_OID = "1.3.6.1.4.1.57683.2"
_CREDENTIAL_ID = "authentication.kubernetes.io/credential-id"


def user_of(certificate: Mapping[str, Any], encoded: bytes) -> UserInfo | None:
    """The user; None when the certificate names none. `certificate` is what the ssl module makes of `encoded`."""
    attributes = list(_attributes(certificate))
    names = [value for attribute, value in attributes if attribute == "commonName" and value]
    if not names:
        return None
    uids = [value for attribute, value in attributes if attribute == _UID_OID]
    groups = tuple(value for attribute, value in attributes if attribute == "organizationName")
    fingerprint = f"X509SHA256={hashlib.sha256(encoded).hexdigest()}"
    return authenticated(
        UserInfo(name=names[-1], uid=uids[0] if uids else "", groups=groups, extra={_CREDENTIAL_ID: (fingerprint,)})
    )


def _attributes(certificate: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for relative_name in certificate.get("subject", ()):
        yield from relative_name


def chain_of(tls: ssl.SSLObject) -> tuple[bytes, ...]:
    """The certificates that the handshake has verified in DER: the client's first, its CA's last."""
    read: Any = getattr(tls, "get_verified_chain", None)
    if read is not None:
        return tuple(read())
    inner: Any = getattr(tls, "_sslobj", None)  # before Python 3.13 the ssl module has it inside only
    return tuple(ssl.PEM_cert_to_DER_cert(one.public_bytes()) for one in inner.get_verified_chain() or ())
