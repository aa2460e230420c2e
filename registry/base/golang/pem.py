"""PEM: certificates and certificate requests in PEM, with the errors of Go's encoding/pem, encoding/asn1 and
crypto/x509.

Pure.
"""

import base64
import binascii
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

if TYPE_CHECKING:
    from cryptography.x509 import CertificateSigningRequest

_BLOCK = re.compile(
    rb"(?:\A|\n)-----BEGIN ([^\n]*?)-----[ \t]*\r?\n(.*?)\n?-----END \1-----[ \t\r]*(?:\n|\Z)", re.DOTALL
)
_HEADER = re.compile(rb"[^\n:]+:[^\n]*\n")
_SEQUENCE = 0x30
_NO_PARAMETERS = (
    "{optional:false explicit:false application:false private:false defaultValue:<nil> tag:<nil> stringType:0 "
    "timeType:0 set:false omitEmpty:false}"
)
_REQUEST = "CERTIFICATE REQUEST"
_CERTIFICATE = "CERTIFICATE"


class PemError(Exception):
    """The data is not acceptable; the text is for clients."""


class PemBlock(Struct, frozen=True):
    """One PEM block with its content in DER."""

    type: str
    content: bytes
    has_headers: bool = False


def blocks(data: bytes) -> Iterator[PemBlock]:
    """The PEM blocks of a text in their order. Text between blocks and malformed blocks are skipped, as Go does."""
    for match in _BLOCK.finditer(data.replace(b"-----\n-----BEGIN", b"-----\n\n-----BEGIN")):
        body = match[2] + b"\n"
        headers = b"".join(_leading_headers(body))
        try:
            content = _content(b"".join(body[len(headers) :].split()))
        except binascii.Error:
            continue
        yield PemBlock(match[1].decode(errors="replace"), content, bool(headers))


def _content(text: bytes) -> bytes:
    """The bytes of a text in base64. Python takes more padding than it needs, which Go does not. Raises Error."""
    if len(text) % 4:
        raise binascii.Error
    return base64.b64decode(text, validate=True)


def _leading_headers(body: bytes) -> Iterator[bytes]:
    position = 0
    while match := _HEADER.match(body, position):
        yield match[0]
        position = match.end()


def read_request(data: bytes) -> "CertificateSigningRequest":
    """The certificate request in a PEM text. Raises PemError."""
    from cryptography import x509

    block = next(blocks(data), None)
    if block is None or block.type != _REQUEST:
        raise PemError(f"PEM block type must be {_REQUEST}")
    try:
        return x509.load_der_x509_csr(block.content)
    except ValueError as exc:
        raise PemError(f"asn1: {_asn1_error(block.content)}") from exc


def _asn1_error(content: bytes) -> str:
    """Go's message for DER that cannot be parsed. Mistakes deeper in the structure get one common message."""
    if not content:
        return "syntax error: sequence truncated"
    if len(content) < 2:
        return "syntax error: truncated tag or length"
    tag, length, offset = content[0], content[1], 2
    if length & 0x80:
        count = length & 0x7F
        offset += count
        if not count or count > 4 or offset > len(content):
            return "syntax error: truncated tag or length"
        length = int.from_bytes(content[2:offset], "big")
    if tag != _SEQUENCE:
        is_compound = "true" if tag & 0x20 else "false"
        found = f"{{class:{tag >> 6} tag:{tag & 0x1F} length:{length} isCompound:{is_compound}}}"
        return f"structure error: tags don't match (16 vs {found}) {_NO_PARAMETERS} certificateRequest @{offset}"
    if offset + length > len(content):
        return "syntax error: data truncated"
    return "structure error: malformed request" if length else "syntax error: sequence truncated"


def check_signature(request: "CertificateSigningRequest") -> None:
    """Verify that the requester owns the key of the request. Raises PemError."""
    from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric import rsa

    try:
        key = request.public_key()
        _verify(request, key)
    except InvalidSignature as exc:
        is_rsa = isinstance(key, rsa.RSAPublicKey)
        raise PemError("crypto/rsa: verification error" if is_rsa else "x509: ECDSA verification failure") from exc
    except (UnsupportedAlgorithm, ValueError, TypeError) as exc:
        raise PemError("x509: cannot verify signature: algorithm unimplemented") from exc


def _verify(request: "CertificateSigningRequest", key: Any) -> None:
    """Verify the signature with the key of the request. Raises InvalidSignature and others.

    `is_signature_valid` of cryptography refuses SHA-1, which Go accepts in requests.
    """
    from cryptography.hazmat.primitives.asymmetric import ec, rsa

    how: list[Any] = []
    if isinstance(key, rsa.RSAPublicKey):
        how = [request.signature_algorithm_parameters, request.signature_hash_algorithm]
    elif isinstance(key, ec.EllipticCurvePublicKey):
        how = [request.signature_algorithm_parameters]
    key.verify(request.signature, request.tbs_certrequest_bytes, *how)


def common_name(request: "CertificateSigningRequest") -> str:
    """The common name of the subject; empty when the request has none."""
    from cryptography.x509.oid import NameOID

    found = request.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    return str(found[-1].value) if found else ""


def organizations(request: "CertificateSigningRequest") -> Sequence[str]:
    """The organizations of the subject, which become the groups of the user."""
    from cryptography.x509.oid import NameOID

    return [str(one.value) for one in request.subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)]


def check_certificates(data: bytes) -> None:
    """Verify that the data holds certificates without headers and no other block. Raises PemError."""
    from cryptography import x509

    count = 0
    for count, block in enumerate(blocks(data), 1):  # noqa: B007 - the count is wanted
        if block.type != _CERTIFICATE:
            raise PemError(f'only {_CERTIFICATE} PEM blocks are allowed, found "{block.type}"')
        if block.has_headers:
            raise PemError("no PEM block headers are permitted")
        try:
            x509.load_der_x509_certificate(block.content)
        except ValueError as exc:
            raise PemError("x509: malformed certificate") from exc
    if not count:
        raise PemError(f"must contain at least one {_CERTIFICATE} PEM block")
