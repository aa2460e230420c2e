"""ValidatingAdmissionPolicies: admission policies whose CEL expressions accept or refuse requests."""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.deferred import Deferred
from aio_apiserver.registry.base.validation import field, internal, meta_conditions, names
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.strategy import StatusStrategy, StrategyContext
from aio_apiserver.registry.groups.admissionregistration import columns, expressions, policies
from aio_apiserver.registry.groups.admissionregistration.policy_strategies import PolicyStrategy
from aio_apiserver.registry.machinery.patch.apply.resets import WITH_METADATA
from aio_apiserver.registry.machinery.printing.columns import Column, count

if TYPE_CHECKING:
    from aio_apiserver.registry.generic.expressions import admission
    from aio_apiserver.registry.machinery.cel import types
else:
    admission = Deferred("aio_apiserver.registry.generic.expressions.admission")
    types = Deferred("aio_apiserver.registry.machinery.cel.types")

_REASONS = ("Forbidden", "Invalid", "RequestEntityTooLarge")
_MOST_ANNOTATIONS = 20
_LONGEST_VALUE = 5 * 1024
_NEITHER = "validations or auditAnnotations must contain at least one item"
_NOTHING = "expression is not specified"
_LINE_BREAKS = re.compile(r"[\n\r]")


class ValidatingAdmissionPolicyStrategy(PolicyStrategy, frozen=True, kw_only=True):
    """The rules of validating policies. Unchanged matchConditions are not validated again."""

    def check(self, obj: Object, old: Object | None) -> list[FieldError]:
        spec = obj["spec"]
        errors = policies.validate_head(spec)
        errors += policies.validate_match_conditions(spec, old["spec"] if old is not None else None)
        variables, has_params = spec.get("variables") or (), spec.get("paramKind") is not None
        composition = admission.Composition(has_params)
        errors += policies.validate_variables(variables, "spec.variables", composition)
        compilers = _Compilers(composition, has_variables=bool(variables))
        validations, annotations = spec.get("validations") or (), spec.get("auditAnnotations") or ()
        if not validations and not annotations:
            return errors + [field.required(f"spec.{name}", _NEITHER) for name in ("validations", "auditAnnotations")]
        for index, validation in enumerate(validations):
            errors += _validate_validation(validation, f"spec.validations[{index}]", compilers)
        return errors + _validate_annotations(annotations, obj["metadata"].get("name", ""), compilers)


class _Compilers:
    """Compiles the expressions of one policy, with a method for each purpose."""

    def __init__(self, composition: "admission.Composition", *, has_variables: bool) -> None:
        self._composition = composition
        self._has_variables = has_variables

    def condition(self, text: str) -> object:
        return self._compiled(text, (types.BOOL,))

    def message(self, text: str) -> object:
        return self._compiled(text, (types.STRING,), has_authorizer=False)

    def annotation(self, text: str) -> object:
        return self._compiled(text, (types.STRING, types.NULL))

    def _compiled(self, text: str, wanted: "Sequence[types.Type]", *, has_authorizer: bool = True) -> object:
        given = admission.Given(params=self._composition.has_params, authorizer=has_authorizer)
        if self._has_variables:
            return self._composition.compile(text, given, wanted)
        return admission.compiled(admission.environment(given), text, wanted)


def _validate_validation(validation: Mapping[str, Any], path: str, compilers: _Compilers) -> list[FieldError]:
    expression = validation.get("expression") or ""
    errors = expressions.validate(expression, f"{path}.expression", compilers.condition, missing=_NOTHING)
    formula, message = validation.get("messageExpression") or "", validation.get("message") or ""
    if formula and not formula.strip():
        errors.append(field.invalid(f"{path}.messageExpression", formula, "must be non-empty if specified"))
    elif formula:
        errors += expressions.mistakes(formula, f"{path}.messageExpression", compilers.message)
    if message and not message.strip():
        errors.append(field.invalid(f"{path}.message", message, "must be non-empty if specified"))
    elif _LINE_BREAKS.search(message.strip()):
        errors.append(field.invalid(f"{path}.message", message, "must not contain line breaks"))
    reason = validation.get("reason")
    if reason is not None and reason not in _REASONS:
        errors.append(field.not_supported(f"{path}.reason", reason, _REASONS))
    return errors


def _validate_annotations(
    annotations: Sequence[Mapping[str, Any]], name: str, compilers: _Compilers
) -> list[FieldError]:
    errors, keys = [], [one.get("key") or "" for one in annotations]
    if len(annotations) > _MOST_ANNOTATIONS:
        shown = [internal.form("admissionregistration.AuditAnnotation", one) for one in annotations]
        why = f"must not have more than {_MOST_ANNOTATIONS} auditAnnotations"
        errors.append(field.invalid("spec.auditAnnotations", shown, why))
    for index, annotation in enumerate(annotations):
        path, key = f"spec.auditAnnotations[{index}]", keys[index]
        errors += _validate_key(key, name, f"{path}.key")
        errors += _validate_value(annotation.get("valueExpression") or "", f"{path}.valueExpression", compilers)
        if key in keys[:index]:
            errors.append(field.duplicate(f"{path}.key", key))
    return errors


def _validate_key(key: str, name: str, path: str) -> list[FieldError]:
    if not name:
        return [field.invalid(path, key, "requires metadata.name be non-empty")]
    whole = f"{name}/{key}"
    return field.invalid_each(path, whole, names.check_qualified_name(whole))


def _validate_value(expression: str, path: str, compilers: _Compilers) -> list[FieldError]:
    text = expression.strip()
    if not text:
        return [field.required(path, "valueExpression is not specified")]
    if len(text.encode()) > _LONGEST_VALUE:
        return [field.required(path, f"must not exceed {_LONGEST_VALUE} bytes in length")]
    return expressions.mistakes(text, path, compilers.annotation, shown=expression)


class ValidatingAdmissionPolicyStatusStrategy(StatusStrategy, frozen=True, kw_only=True):
    """The result of type checking, which a controller reports."""

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        status, errors = new.get("status") or {}, []
        path = "status.typeChecking.expressionWarnings"
        for index, warning in enumerate((status.get("typeChecking") or {}).get("expressionWarnings") or ()):
            if not warning.get("warning"):
                errors.append(field.required(f"{path}[{index}].warning"))
            if not (warning.get("fieldRef") or "").strip():
                errors.append(field.required(f"{path}[{index}].fieldRef"))
        return errors + meta_conditions.validate(status.get("conditions") or (), "status.conditions")


_COLUMNS = columns.of_policies(
    (
        Column(
            name="Validations",
            type="integer",
            text="Validations indicates the number of validation rules defined in this configuration",
        ),
        count("spec.validations"),
    )
)

VALIDATINGADMISSIONPOLICIES = Kind(
    group="admissionregistration.k8s.io",
    plural="validatingadmissionpolicies",
    kind="ValidatingAdmissionPolicy",
    resets={"status": WITH_METADATA},
    is_namespaced=False,
    categories=("api-extensions",),
    strategy=ValidatingAdmissionPolicyStrategy(has_status=True, has_generation=True, allows_unconditional_update=False),
    status_strategy=ValidatingAdmissionPolicyStatusStrategy(keeps_metadata=True, allows_unconditional_update=False),
    columns=_COLUMNS,
)
