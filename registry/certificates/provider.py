"""The certificates.k8s.io group: its kinds."""

from registry.fields import text
from registry.generic.provider import KindsProvider
from registry.kind import Kind
from registry.strategy import StatusStrategy, Strategy

GROUP = "certificates.k8s.io"

KINDS = (
    Kind(
        group=GROUP,
        plural="certificatesigningrequests",
        kind="CertificateSigningRequest",
        is_namespaced=False,
        short_names=("csr",),
        strategy=Strategy(has_status=True),
        status_strategy=StatusStrategy(),
        fields={"spec.signerName": text("spec.signerName")},
    ),
)

PROVIDER = KindsProvider(group=GROUP, kinds=KINDS)
