"""Certificates for tests: an authority that signs server and client certificates for loopback, as PEM files."""

import datetime
import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_USAGES = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
_SIGNS = x509.KeyUsage(
    digital_signature=True,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    key_cert_sign=True,
    crl_sign=True,
    encipher_only=False,
    decipher_only=False,
)
_BEGIN = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
_END = datetime.datetime(2120, 1, 1, tzinfo=datetime.UTC)


@dataclass(frozen=True, slots=True)
class CertificateFiles:
    """A certificate, its key, and the authority that verifies the other side."""

    certificate: Path
    key: Path
    authority: Path


class Authority:
    """A certificate authority whose files are in one folder."""

    def __init__(self, folder: Path, name: str = "authority", *, signer: "Authority | None" = None) -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._subject = _subject(name)
        signer = signer or self
        self._certificate = (
            signer._builder(self._subject, self._key.public_key())
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(_SIGNS, critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(self._key.public_key()), critical=False)
            .sign(signer._key, hashes.SHA256())
        )
        self.file = self._write(f"{name}.crt", _pem(self._certificate))

    def issue(self, name: str, names: Sequence[str] = (), organizations: Sequence[str] = ()) -> CertificateFiles:
        """A certificate for loopback and other names, for servers and clients."""
        key = ec.generate_private_key(ec.SECP256R1())
        own = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
        others = [x509.DNSName(one) for one in names]
        certificate = (
            self._builder(_subject(name, organizations), key.public_key())
            .add_extension(x509.SubjectAlternativeName([*own, *others]), critical=False)
            .add_extension(x509.ExtendedKeyUsage(_USAGES), critical=False)
            .sign(self._key, hashes.SHA256())
        )
        private = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        return CertificateFiles(
            certificate=self._write(f"{name}.crt", _pem(certificate)),
            key=self._write(f"{name}.key", private),
            authority=self.file,
        )

    def _builder(self, subject: x509.Name, public_key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
        """Python 3.13 demands the identifiers of keys, and the usage of an authority's key."""
        signer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._subject)
            .public_key(public_key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(_BEGIN)
            .not_valid_after(_END)
            .add_extension(signer, critical=False)
        )

    def _write(self, name: str, content: bytes) -> Path:
        path = self._folder / name
        path.write_bytes(content)
        return path


def _subject(name: str, organizations: Sequence[str] = ()) -> x509.Name:
    groups = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, one) for one in organizations]
    return x509.Name([*groups, x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)
