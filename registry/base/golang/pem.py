"""Certificates and requests for them in PEM: reading them with Go's words for what is wrong. Pure."""

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
    """What is wrong; the text is for clients."""


class Block(Struct, frozen=True):
    """One block: what it holds, in DER."""

    type: str
    content: bytes
    has_headers: bool = False


def blocks(data: bytes) -> Iterator[Block]:
    """The blocks of a text, one after the other; what stands between them, and what is malformed, does not count."""
    for match in _BLOCK.finditer(data.replace(b"-----\n-----BEGIN", b"-----\n\n-----BEGIN")):
        body = match[2] + b"\n"
        headers = b"".join(_leading_headers(body))
        try:
            content = base64.b64decode(b"".join(body[len(headers) :].split()), validate=True)
        except binascii.Error:
            continue
        yield Block(match[1].decode(errors="replace"), content, bool(headers))


def _leading_headers(body: bytes) -> Iterator[bytes]:
    position = 0
    while match := _HEADER.match(body, position):
        yield match[0]
        position = match.end()


def read_request(data: bytes) -> "CertificateSigningRequest":
    """A request. Raises PemError."""
    from cryptography import x509

    block = next(blocks(data), None)
    if block is None or block.type != _REQUEST:
        raise PemError(f"PEM block type must be {_REQUEST}")
    try:
        return x509.load_der_x509_csr(block.content)
    except ValueError as exc:
        raise PemError(f"asn1: {_asn1_error(block.content)}") from exc


def _asn1_error(content: bytes) -> str:
    """What Go has against the beginning of a structure that cannot be read; of what is deeper it says no more."""
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
    """Whether the one who asks has the key. Raises PemError."""
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
    """Not by is_signature_valid, which refuses SHA-1: in requests, Go takes it. Raises InvalidSignature and others."""
    from cryptography.hazmat.primitives.asymmetric import ec, rsa

    how: list[Any] = []
    if isinstance(key, rsa.RSAPublicKey):
        how = [request.signature_algorithm_parameters, request.signature_hash_algorithm]
    elif isinstance(key, ec.EllipticCurvePublicKey):
        how = [request.signature_algorithm_parameters]
    key.verify(request.signature, request.tbs_certrequest_bytes, *how)


def common_name(request: "CertificateSigningRequest") -> str:
    """Whom a request is for; empty when it does not say."""
    from cryptography.x509.oid import NameOID

    found = request.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    return str(found[-1].value) if found else ""


def organizations(request: "CertificateSigningRequest") -> Sequence[str]:
    """The organizations of the subject: a user's groups."""
    from cryptography.x509.oid import NameOID

    return [str(one.value) for one in request.subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)]


def check_certificates(data: bytes) -> None:
    """That there are certificates and nothing else. Raises PemError."""
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
