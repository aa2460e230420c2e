"""ClusterTrustBundles: certificates of authorities that clients of a signer trust, in one PEM text."""

from typing import TYPE_CHECKING

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.base.deferred import Deferred
from aio_apiserver.registry.base.fields import text
from aio_apiserver.registry.base.timeline import before
from aio_apiserver.registry.base.validation import field, object_meta
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.base.validation.names import DNS1123_SUBDOMAIN
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.strategy import Strategy, StrategyContext
from aio_apiserver.registry.groups.certificates import signers
from aio_apiserver.registry.machinery.printing import columns
from aio_apiserver.registry.machinery.printing.columns import NAME, Column, table_of
from aio_apiserver.registry.machinery.printing.formats import NONE

if TYPE_CHECKING:
    from aio_apiserver.registry.groups.certificates import trust_anchors
else:
    trust_anchors = Deferred("aio_apiserver.registry.groups.certificates.trust_anchors")

_SIGNER, _BUNDLE = "spec.signerName", "spec.trustBundle"


class ClusterTrustBundleStrategy(Strategy, frozen=True, kw_only=True):
    """The rules of bundles. The signer is immutable, and a prefix of the name."""

    def validate(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        return super().validate(context, obj) + _validate(obj) + trust_anchors.validate(_bundle_of(obj), _BUNDLE)

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        errors = super().validate_update(context, new, old) + _validate(new)
        if _bundle_of(new) != _bundle_of(old):
            errors += trust_anchors.validate(_bundle_of(new), _BUNDLE)
        if _signer_of(new) != _signer_of(old):
            errors.append(field.invalid(_SIGNER, _signer_of(new), object_meta.IMMUTABLE))
        return errors


def _bundle_of(bundle: Object) -> str:
    return objects.get(bundle, _BUNDLE) or ""


def _signer_of(bundle: Object) -> str:
    return objects.get(bundle, _SIGNER) or ""


def _validate(bundle: Object) -> list[FieldError]:
    name, signer = bundle["metadata"].get("name") or "", _signer_of(bundle)
    errors = field.invalid_each("metadata.name", name, _check_name(name, signer))
    return errors + (signers.validate(signer, _SIGNER) if signer else [])


def _any_name(_name: str, _is_prefix: bool) -> list[str]:
    """Names are checked with their signers."""
    return []


def _check_name(name: str, signer: str) -> list[str]:
    """The mistakes of a name: `example.com:signer:name` for the signer example.com/signer."""
    if not signer:
        if ":" in name:
            return ['ClusterTrustBundle without signer name must not have ":" in its name']
        return DNS1123_SUBDOMAIN.check(name)
    prefix = f"{signer.replace('/', ':')}:"
    if not name.startswith(prefix):
        return [f"ClusterTrustBundle for signerName {signer} must be named with prefix {prefix}"]
    return DNS1123_SUBDOMAIN.check(name.removeprefix(prefix))


_COLUMNS = table_of(
    NAME,
    (Column(name="SignerName", field="certificates.v1.ClusterTrustBundleSpec.signerName"), columns.text(_SIGNER, NONE)),
)

CLUSTERTRUSTBUNDLES = Kind(
    group="certificates.k8s.io",
    plural="clustertrustbundles",
    kind="ClusterTrustBundle",
    is_namespaced=False,
    strategy=ClusterTrustBundleStrategy(allows_unconditional_update=False, check_name=_any_name),
    returns_deleted_object=True,
    fields={_SIGNER: text(_SIGNER)},
    columns=_COLUMNS,
    history=(before((1, 37), versions=()),),
)
