"""ValidatingAdmissionPolicyBindings: where a validating policy applies, and the actions for violations."""

from collections.abc import Sequence

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.validation import field
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.error_history import since, worded
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.groups.admissionregistration import columns
from aio_apiserver.registry.groups.admissionregistration.policy_strategies import PolicyBindingStrategy

_ACTIONS = ("Audit", "Deny", "Warn")
_PATH = "spec.validationActions"
_BOTH = (
    "must not contain both Deny and Warn (repeating the same validation failure information in the API response and "
    "headers serves no purpose)"
)


class ValidatingAdmissionPolicyBindingStrategy(PolicyBindingStrategy, frozen=True, kw_only=True):
    """The rules of these bindings, which need at least one validation action."""

    def check(self, obj: Object, old: Object | None) -> list[FieldError]:
        return super().check(obj, old) + _validate_actions(obj["spec"].get("validationActions") or ())


def _validate_actions(actions: Sequence[str]) -> list[FieldError]:
    errors = []
    for index, action in enumerate(actions):
        path = f"{_PATH}[{index}]"
        if action not in _ACTIONS:
            errors.append(field.not_supported(path, action, _ACTIONS))
        if action in actions[:index]:
            errors.append(field.duplicate(path, action))
    if {"Deny", "Warn"} <= set(actions):
        errors.append(field.invalid(_PATH, actions, _BOTH))
    return errors if actions else [field.required(_PATH, "at least one validation action is required")]


_ERRORS = (since((1, 37), r"spec\.validationActions", worded(""), type=field.ErrorType.REQUIRED),)

VALIDATINGADMISSIONPOLICYBINDINGS = Kind(
    group="admissionregistration.k8s.io",
    plural="validatingadmissionpolicybindings",
    kind="ValidatingAdmissionPolicyBinding",
    is_namespaced=False,
    categories=("api-extensions",),
    strategy=ValidatingAdmissionPolicyBindingStrategy(has_generation=True, allows_unconditional_update=False),
    columns=columns.ADMISSION_POLICY_BINDINGS,
    errors=_ERRORS,
)
