"""Certificate requests that are approved, signed and refused on a real server."""

import base64
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID

from aio_apiserver.apiserver.tls import issuing
from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime import resources as places
from aio_apiserver.testing.bench.bench import Bench
from tests.controllers import clusters

_CONTROLLERS = (
    "certificatesigningrequest-approving-controller",
    "certificatesigningrequest-cleaner-controller",
    "certificatesigningrequest-signing-controller",
)
_CLIENT = "kubernetes.io/kube-apiserver-client"


def _request(name: str, subject: x509.Name, signer: str, *usages: str, **spec: object) -> Object:
    key = ec.generate_private_key(ec.SECP256R1())
    made = x509.CertificateSigningRequestBuilder().subject_name(subject).sign(key, hashes.SHA256())
    text = base64.b64encode(made.public_bytes(serialization.Encoding.PEM)).decode()
    return {
        "metadata": {"name": name},
        "spec": {"request": text, "signerName": signer, "usages": list(usages), **spec},
    }


def _approve(obj: Object) -> None:
    condition = {"type": "Approved", "status": "True", "reason": "Test", "message": "", "lastUpdateTime": None}
    obj["status"] = {"conditions": [condition]}


async def _approved(cluster: clusters.Cluster, request: Object) -> None:
    made = await cluster.client.create(places.CERTIFICATE_SIGNING_REQUESTS, request)
    await cluster.client.change(places.CERTIFICATE_SIGNING_REQUESTS.part("approval"), made, _approve)


def _certificate(items: dict[str, Object], name: str) -> str:
    return str((items.get(name, {}).get("status") or {}).get("certificate") or "")


def _reasons(items: dict[str, Object], name: str) -> list[str]:
    return [one["reason"] for one in (items.get(name, {}).get("status") or {}).get("conditions") or ()]


async def test_what_is_approved_is_signed_by_the_ca_of_the_server(tmp_path: Path) -> None:
    async with clusters.running(tmp_path, *_CONTROLLERS) as cluster:
        jane = issuing.subject("jane", "dev")
        usages = ("client auth", "digital signature")
        await _approved(cluster, _request("jane", jane, _CLIENT, *usages, expirationSeconds=3600))

        items = await cluster.until(places.CERTIFICATE_SIGNING_REQUESTS, lambda items: _certificate(items, "jane"))

        certificate = x509.load_pem_x509_certificate(base64.b64decode(_certificate(items, "jane")))
        ca = x509.load_pem_x509_certificate(cluster.server.pki.ca.certificate.read_bytes())
        certificate.verify_directly_issued_by(ca)
        assert certificate.subject == jane
        assert (certificate.not_valid_after_utc - certificate.not_valid_before_utc).total_seconds() == 3600 + 300
        usage = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
        assert list(usage) == [ExtendedKeyUsageOID.CLIENT_AUTH]


async def test_a_signer_refuses_other_usages_and_leaves_requests_of_other_signers(tmp_path: Path) -> None:
    async with clusters.running(tmp_path, *_CONTROLLERS) as cluster:
        jane = issuing.subject("jane")
        await _approved(cluster, _request("other", jane, "example.com/signer", "client auth"))
        await _approved(cluster, _request("server", jane, _CLIENT, "server auth"))

        items = await cluster.until(
            places.CERTIFICATE_SIGNING_REQUESTS, lambda items: "SignerValidationFailure" in _reasons(items, "server")
        )

        assert not _certificate(items, "server")
        assert (_reasons(items, "other"), _certificate(items, "other")) == (["Test"], "")


async def test_client_certificates_of_kubelets_are_approved_when_the_user_may_have_them(tmp_path: Path) -> None:
    async with clusters.running(tmp_path, *_CONTROLLERS) as cluster:
        kubelet, usages = issuing.subject("system:node:one", "system:nodes"), ("client auth", "digital signature")
        request = _request("node", kubelet, "kubernetes.io/kube-apiserver-client-kubelet", *usages)

        await cluster.client.create(places.CERTIFICATE_SIGNING_REQUESTS, request)

        items = await cluster.until(places.CERTIFICATE_SIGNING_REQUESTS, lambda items: _certificate(items, "node"))
        assert _reasons(items, "node") == ["AutoApproved"]


async def test_old_requests_are_cleaned_up(tmp_path: Path) -> None:
    async with clusters.running(tmp_path, *_CONTROLLERS, testing=True) as cluster:
        await cluster.client.create(
            places.CERTIFICATE_SIGNING_REQUESTS, _request("open", issuing.subject("jane"), _CLIENT, "client auth")
        )
        await cluster.until(places.CERTIFICATE_SIGNING_REQUESTS, lambda items: "open" in items)

        bench = cluster.server.parts.bench
        assert isinstance(bench, Bench)
        await bench.moving.set(cluster.server.parts.clock.now() + 25 * 3600)

        await cluster.gone(places.CERTIFICATE_SIGNING_REQUESTS, "open")
