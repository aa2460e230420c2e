"""Roles: RBAC rules for one namespace."""

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.validation import names
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.strategy import Strategy, StrategyContext
from aio_apiserver.registry.groups.rbac import validation
from aio_apiserver.registry.machinery.printing.columns import BY_TIME


class RoleStrategy(Strategy, frozen=True, kw_only=True):
    """The rules of roles, which cannot have nonResourceURLs."""

    def validate(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        return super().validate(context, obj) + validation.validate_rules(obj, is_namespaced=True)

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        return self.validate_again(context, new) + super().validate_update(context, new, old)


ROLES = Kind(
    group=validation.GROUP,
    plural="roles",
    kind="Role",
    strategy=RoleStrategy(allows_create_on_update=True, check_name=names.is_path_segment),
    columns=BY_TIME,
    errors=validation.ROLE_ERRORS,
)
