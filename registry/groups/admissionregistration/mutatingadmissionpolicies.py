"""MutatingAdmissionPolicies: admission policies whose CEL expressions change objects."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.deferred import Deferred
from aio_apiserver.registry.base.timeline import before
from aio_apiserver.registry.base.validation import field, values
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.deprecations import Deprecation
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.groups.admissionregistration import columns, expressions, policies
from aio_apiserver.registry.groups.admissionregistration.policy_strategies import PolicyStrategy
from aio_apiserver.registry.groups.admissionregistration.webhooks import REINVOCATION_POLICIES
from aio_apiserver.registry.machinery.printing.columns import Column, count

if TYPE_CHECKING:
    from aio_apiserver.registry.generic.expressions import admission, admission_types
    from aio_apiserver.registry.machinery.cel import types
else:
    admission = Deferred("aio_apiserver.registry.generic.expressions.admission")
    admission_types = Deferred("aio_apiserver.registry.generic.expressions.admission_types")
    types = Deferred("aio_apiserver.registry.machinery.cel.types")

_PATCHES = {"ApplyConfiguration": "applyConfiguration", "JSONPatch": "jsonPatch"}


class MutatingAdmissionPolicyStrategy(PolicyStrategy, frozen=True, kw_only=True):
    """The rules of mutating policies. Unchanged matchConditions are not validated again."""

    def check(self, obj: Object, old: Object | None) -> list[FieldError]:
        spec = obj["spec"]
        errors = policies.validate_head(spec)
        errors += policies.validate_mutable(spec.get("matchConstraints"), "spec.matchConstraints")
        errors += policies.validate_match_conditions(spec, old["spec"] if old is not None else None)
        composition = admission.Composition(spec.get("paramKind") is not None)
        errors += policies.validate_variables(spec.get("variables") or (), "spec.variables", composition)
        mutations = spec.get("mutations") or ()
        if not mutations:
            errors.append(field.required("spec.mutations", "mutations must contain at least one item"))
        for index, mutation in enumerate(mutations):
            errors += _validate_mutation(mutation, f"spec.mutations[{index}]", composition)
        return errors + values.required_one_of(spec, "spec", "reinvocationPolicy", REINVOCATION_POLICIES)


def _validate_mutation(
    mutation: Mapping[str, Any], path: str, composition: "admission.Composition"
) -> list[FieldError]:
    """The errors of a mutation, which has the one patch that its type names."""
    kind = mutation.get("patchType") or ""
    if kind not in _PATCHES:
        return values.required_one_of(mutation, path, "patchType", tuple(_PATCHES))
    name = _PATCHES[kind]
    other = next(one for one in _PATCHES.values() if one != name)
    if mutation.get(name) is None:
        errors = [field.required(f"{path}.{name}", f"must be specified when patchType is {kind}")]
    else:
        given = admission.Given(params=composition.has_params, patches=True)
        text = (mutation[name].get("expression") or "").strip()
        errors = expressions.validate(
            text, f"{path}.{name}.expression", lambda text: composition.compile(text, given, (_result(kind),))
        )
    if mutation.get(other) is not None:
        why = f"must not be specified when patchType is {kind}"
        errors.append(field.invalid(f"{path}.{other}", f"{{{other}}}", why))
    return errors


def _result(kind: str) -> "types.Type":
    """The type of a patch expression."""
    return admission_types.OBJECT if kind == "ApplyConfiguration" else types.list_of(admission_types.JSON_PATCH)


_COLUMNS = columns.of_policies(
    (
        Column(
            name="Mutations",
            type="integer",
            text="Mutation indicates the number of mutations rules defined in this configuration",
        ),
        count("spec.mutations"),
    )
)

MUTATINGADMISSIONPOLICIES = Kind(
    group="admissionregistration.k8s.io",
    plural="mutatingadmissionpolicies",
    kind="MutatingAdmissionPolicy",
    beta_versions=("v1beta1",),
    deprecations={"v1beta1": Deprecation((1, 37), removed=(1, 40), is_replaced=True)},
    stored_version="v1beta1",
    history=(before((1, 36), versions=()), before((1, 34), beta_versions=())),
    is_namespaced=False,
    categories=("api-extensions",),
    strategy=MutatingAdmissionPolicyStrategy(has_generation=True, allows_unconditional_update=False),
    columns=_COLUMNS,
)
