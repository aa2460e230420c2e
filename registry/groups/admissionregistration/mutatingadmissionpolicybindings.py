"""MutatingAdmissionPolicyBindings: the objects to which a mutating admission policy applies, and its parameters."""

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.timeline import before
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.deprecations import Deprecation
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.groups.admissionregistration import columns, policies
from aio_apiserver.registry.groups.admissionregistration.policy_strategies import PolicyBindingStrategy


class MutatingAdmissionPolicyBindingStrategy(PolicyBindingStrategy, frozen=True, kw_only=True):
    """The rules of these bindings. Mutation of DELETE is refused, since a deleted object cannot be changed."""

    def check(self, obj: Object, old: Object | None) -> list[FieldError]:
        errors = super().check(obj, old)
        return errors + policies.validate_mutable(obj["spec"].get("matchResources"), "spec.matchResources")


MUTATINGADMISSIONPOLICYBINDINGS = Kind(
    group="admissionregistration.k8s.io",
    plural="mutatingadmissionpolicybindings",
    kind="MutatingAdmissionPolicyBinding",
    beta_versions=("v1beta1",),
    deprecations={"v1beta1": Deprecation((1, 37), removed=(1, 40), is_replaced=True)},
    stored_version="v1beta1",
    history=(before((1, 36), versions=()), before((1, 34), beta_versions=())),
    is_namespaced=False,
    categories=("api-extensions",),
    strategy=MutatingAdmissionPolicyBindingStrategy(has_generation=True, allows_unconditional_update=False),
    columns=columns.ADMISSION_POLICY_BINDINGS,
)
