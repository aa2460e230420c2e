"""ClusterRoles: rules for the whole cluster, given directly or aggregated from other ClusterRoles by labels.

A controller aggregates the rules. This module validates the aggregationRule.
"""

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.base.validation import field, label_selectors, names
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.strategy import Strategy, StrategyContext
from aio_apiserver.registry.groups.rbac import validation
from aio_apiserver.registry.machinery.printing.columns import BY_TIME

_NO_SELECTOR = "at least one clusterRoleSelector required if aggregationRule is non-nil"


class ClusterRoleStrategy(Strategy, frozen=True, kw_only=True):
    """The rules of cluster roles."""

    def validate(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        errors = super().validate(context, obj) + validation.validate_rules(obj, is_namespaced=False)
        return errors + _validate_aggregation(obj)

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        return self.validate_again(context, new) + super().validate_update(context, new, old)


def _validate_aggregation(role: Object) -> list[FieldError]:
    if role.get("aggregationRule") is None:
        return []
    path = "aggregationRule.clusterRoleSelectors"
    selectors = objects.get(role, path, ())
    if not selectors:
        return [field.required(path, _NO_SELECTOR)]
    errors: list[FieldError] = []
    for index, selector in enumerate(selectors):
        wrong = label_selectors.validate(selector, f"{path}[{index}]")
        errors += wrong
        if wrong:
            errors.append(field.invalid(f"{path}[{index}]", None, "invalid label selector."))
    return errors


CLUSTERROLES = Kind(
    group=validation.GROUP,
    plural="clusterroles",
    kind="ClusterRole",
    is_namespaced=False,
    strategy=ClusterRoleStrategy(allows_create_on_update=True, check_name=names.is_path_segment),
    columns=BY_TIME,
    errors=validation.ROLE_ERRORS,
)
