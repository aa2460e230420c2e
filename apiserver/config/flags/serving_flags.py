"""serving_flags: Flags of the secure port: addresses, certificates, TLS."""

from pathlib import Path
from typing import Annotated

from aio_apiserver.apiserver.config.flags.flag_fields import SERVING, FlagGroup, flag
from aio_apiserver.apiserver.config.flags.setting_types import (
    Address,
    OwnPort,
    Strings,
    each_of,
    one_of,
)
from aio_apiserver.apiserver.config.flags.tls_names import CIPHERS, TLS_VERSIONS

_NO_CIPHER = "Cipher suite {value} not supported or doesn't exist"
_NO_VERSION = 'unknown tls version "{value}"'


class ServingFlags(FlagGroup):
    """The group Secure serving of --help."""

    bind_address: Address = flag(
        SERVING,
        "0.0.0.0",  # noqa: S104 kube-apiserver's default; every request is authenticated
        "The IP address on which to listen for the --secure-port port. If blank or an unspecified address (0.0.0.0 or "
        "::), all interfaces and IP address families will be used.",
    )
    secure_port: OwnPort = flag(
        SERVING,
        6443,
        "The port on which to serve HTTPS with authentication and authorization. 0 takes a free one, which the "
        "kubeconfig file names.",
    )
    cert_dir: Path | None = flag(
        SERVING,
        None,
        "The directory where the CA and the certificates are kept that the server makes for itself.",
        shown="<data-dir>/pki",
    )
    tls_cert_file: Path | None = flag(
        SERVING,
        None,
        "File containing the x509 certificate for HTTPS, followed by the CA's if any. Without it and "
        "--tls-private-key-file, the server makes a certificate in --cert-dir.",
    )
    tls_private_key_file: Path | None = flag(
        SERVING, None, "File containing the x509 private key matching --tls-cert-file."
    )
    tls_min_version: Annotated[str, one_of(*TLS_VERSIONS, words=_NO_VERSION)] = flag(
        SERVING, "VersionTLS12", f"Minimum TLS version supported: {', '.join(TLS_VERSIONS)}."
    )
    tls_cipher_suites: Annotated[Strings, each_of(*CIPHERS, words=_NO_CIPHER)] = flag(
        SERVING,
        (),
        "Comma-separated list of cipher suites for the server; those of TLS 1.3 are always on. If omitted, OpenSSL's "
        f"defaults are used. Possible values: {', '.join(CIPHERS)}.",
    )
    permit_port_sharing: bool = flag(
        SERVING, False, "If true, SO_REUSEPORT is used when binding the port, so that several instances can share it."
    )
