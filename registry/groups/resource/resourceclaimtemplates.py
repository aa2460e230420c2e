"""ResourceClaimTemplates: each pod that names a template gets its own ResourceClaim."""

from typing import TYPE_CHECKING

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import empties
from aio_apiserver.registry.base.deferred import Deferred
from aio_apiserver.registry.base.timeline import before
from aio_apiserver.registry.base.validation import field, internal, object_meta
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.deprecations import Deprecation
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.strategy import Strategy, StrategyContext
from aio_apiserver.registry.groups.core.pods.validation import claims
from aio_apiserver.registry.groups.resource import gates

if TYPE_CHECKING:
    from aio_apiserver.registry.groups.resource import device_requests
else:
    device_requests = Deferred("aio_apiserver.registry.groups.resource.device_requests")


class ResourceClaimTemplateStrategy(Strategy, frozen=True, kw_only=True):
    """The rules of claim templates, whose spec is immutable."""

    takes_long: bool = True
    """Its selectors are compiled."""

    def default(self, obj: Object) -> None:
        device_requests.default((obj.get("spec") or {}).get("spec") or {})

    def validate(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        spec = obj.get("spec") or {}
        errors = [*context.found, *super().validate(context, obj)]
        metadata = empties.within(spec.get("metadata") or {}, ("spec", "metadata"), context.empties)
        errors += claims.validate_template_metadata(metadata, "spec.metadata")
        return errors + device_requests.validate(spec.get("spec") or {}, "spec.spec")

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        errors = self.validate_again(context, new) + super().validate_update(context, new, old)
        shown, before = (
            internal.form("resource.ResourceClaimTemplateSpec", one.get("spec") or {}, self.version)
            for one in (new, old)
        )
        if shown != before:
            errors.append(field.invalid("spec", shown, object_meta.IMMUTABLE))
        return errors


RESOURCECLAIMTEMPLATES = Kind(
    group="resource.k8s.io",
    plural="resourceclaimtemplates",
    kind="ResourceClaimTemplate",
    beta_versions=("v1beta2",),
    deprecations={"v1beta2": Deprecation((1, 36), removed=(1, 39))},
    history=(before((1, 34), versions=()),),
    strategy=ResourceClaimTemplateStrategy(),
    returns_deleted_object=True,
    gated=gates.of_claims("spec.spec"),
)
