"""Strategy: the strategies of custom resources, which take subresources and rules from the definition.

Must hold: a strategy is for one version, and its rules see objects in that version.
"""

from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.names import GroupKind
from aio_apiserver.registry.base.validation import field, object_meta
from aio_apiserver.registry.base.validation.errors import invalid_of
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.strategy import Strategy, StrategyContext
from aio_apiserver.registry.groups.apiextensions.serving import object_validation
from aio_apiserver.registry.groups.apiextensions.serving.object_validation import ObjectRules


class CustomStrategy(Strategy, frozen=True, kw_only=True):
    """The strategy of the custom resource itself."""

    rules: ObjectRules
    has_generation: bool = True
    allows_unconditional_update: bool = False

    def prepare_for_create(self, context: StrategyContext, obj: Object) -> None:
        super().prepare_for_create(context, obj)
        if self.has_status:
            self.rules.type.apply_defaults(obj)

    def is_changed(self, new: Object, old: Object) -> bool:
        return _without_metadata(new) != _without_metadata(old)

    def validate(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        self._refuse_another_kind(context, obj)
        return self.rules.validate(obj, may_take_long=context.may_take_long)

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        self._refuse_another_kind(context, new)
        found = object_meta.validate_update(new["metadata"], old["metadata"])
        return found + self.rules.validate_update(new, old, context.warn, may_take_long=context.may_take_long)

    def _refuse_another_kind(self, context: StrategyContext, obj: Object) -> None:
        """Raise the errors of an object that states another kind than that of its URL."""
        if (stated := obj.get("kind")) is None:
            return
        api_version, expected = self.rules.type_meta["apiVersion"], self.rules.type_meta["kind"]
        wrong = field.invalid("kind", stated, f"must be {expected}")
        group = api_version.rpartition("/")[0]
        found = self.rules.validate_another_kind(obj, wrong, may_take_long=context.may_take_long)
        raise invalid_of(GroupKind(group, stated), obj["metadata"].get("name") or "", found)

    def warnings_on_create(self, context: StrategyContext, obj: Object) -> list[str]:
        return object_validation.finalizer_warnings(obj, None)

    def warnings_on_update(self, context: StrategyContext, new: Object, old: Object) -> list[str]:
        return object_validation.finalizer_warnings(new, old)


class CustomStatusStrategy(Strategy, frozen=True, kw_only=True):
    """The strategy of /status. An update changes the status and managedFields alone."""

    rules: ObjectRules
    allows_unconditional_update: bool = False

    def prepare_for_update(self, context: StrategyContext, new: Object, old: Object) -> None:
        status, managed = new.get("status"), new["metadata"].get("managedFields")
        has_status = "status" in new
        new.clear()
        new.update(old)
        new["metadata"] = {**old["metadata"]}
        if managed is not None:
            new["metadata"]["managedFields"] = managed
        else:
            new["metadata"].pop("managedFields", None)
        if has_status:
            new["status"] = status
        else:
            new.pop("status", None)

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        found = object_meta.validate_update(new["metadata"], old["metadata"])
        return found + self.rules.validate_status_update(new, old, context.warn, may_take_long=context.may_take_long)


def _without_metadata(obj: Object) -> dict[str, Any]:
    return {name: value for name, value in obj.items() if name != "metadata"}
