"""Policy strategies: the strategies that policies and bindings of both kinds share."""

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.strategy import Strategy, StrategyContext
from aio_apiserver.registry.groups.admissionregistration import policies
from aio_apiserver.registry.groups.admissionregistration.names import warn_of_reserved_name


class PolicyPartStrategy(Strategy, frozen=True, kw_only=True):
    """The base of policies and bindings. A subclass validates the spec in `check`."""

    def check(self, obj: Object, old: Object | None) -> list[FieldError]:
        """The errors of the spec. `old` is the object that an update replaces."""
        return []

    def validate(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        return self.check(obj, None) or list(context.found)

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        return self.validate_metadata_again(new) + self.check(new, old) or list(context.found)

    def warnings_on_create(self, context: StrategyContext, obj: Object) -> list[str]:
        return warn_of_reserved_name(obj)

    def warnings_on_update(self, context: StrategyContext, new: Object, old: Object) -> list[str]:
        return warn_of_reserved_name(new)


class PolicyStrategy(PolicyPartStrategy, frozen=True, kw_only=True):
    """The strategy of policies."""

    takes_long: bool = True
    """Their expressions are compiled."""


class PolicyBindingStrategy(PolicyPartStrategy, frozen=True, kw_only=True):
    """The strategy of bindings, which select the requests for their policy."""

    def default(self, obj: Object) -> None:
        obj.setdefault("spec", {})

    def check(self, obj: Object, old: Object | None) -> list[FieldError]:
        return policies.validate_binding(obj["spec"])
