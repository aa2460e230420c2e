"""Pod templates: a template of pods by itself."""

from dataclasses import dataclass

from registry.core import pod_spec
from registry.core.pods_validation import validate_pod_template
from registry.kind import Kind
from registry.strategy import Strategy, StrategyContext
from registry.validation.field import FieldError
from storage.stored_object import Object


@dataclass(frozen=True, kw_only=True)
class PodTemplateStrategy(Strategy):
    """The template is all that there is."""

    def default(self, obj: Object) -> None:
        pod_spec.default_template(obj.get("template"))

    def validate(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        return super().validate(context, obj) + validate_pod_template(obj["template"], "template")

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        errors = super().validate_update(context, new, old)
        return errors + validate_pod_template(new["template"], "template")


PODTEMPLATES = Kind(
    group="",
    plural="podtemplates",
    kind="PodTemplate",
    strategy=PodTemplateStrategy(has_generation=True),
    returns_deleted_object=True,
)
