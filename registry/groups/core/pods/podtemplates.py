"""PodTemplates: a PodTemplate stores one pod template as an object of its own."""

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.strategy import Strategy, StrategyContext
from aio_apiserver.registry.groups.core.pods import pod_history, pod_spec, pod_warnings
from aio_apiserver.registry.groups.core.pods.validation import templates
from aio_apiserver.registry.machinery.printing import formats
from aio_apiserver.registry.machinery.printing.columns import NAME, Column, table_of


class PodTemplateStrategy(Strategy, frozen=True, kw_only=True):
    """The rules of pod templates. The template is a member of the object, not of a spec."""

    def default(self, obj: Object) -> None:
        pod_spec.default_template(obj.get("template"))

    def is_changed(self, new: Object, old: Object) -> bool:
        return bool(new["template"] != old["template"])

    def validate(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        errors = super().validate(context, obj)
        return errors + templates.validate_pod_template(obj["template"], "template", context=context)

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        errors = super().validate_update(context, new, old)
        return errors + templates.validate_pod_template(
            new["template"],
            "template",
            old=old["template"],
            context=context,
        )

    def warnings_on_create(self, context: StrategyContext, obj: Object) -> list[str]:
        return pod_warnings.template_warnings(obj["template"], "template")

    def warnings_on_update(self, context: StrategyContext, new: Object, old: Object) -> list[str]:
        if new["metadata"].get("generation") == old["metadata"].get("generation"):
            return []
        return pod_warnings.template_warnings(new["template"], "template")


_COLUMNS = table_of(
    NAME,
    (
        Column(name="Containers", text="Names of each container in the template."),
        formats.joined("template.spec.containers", "name"),
    ),
    (
        Column(name="Images", text="Images referenced by each container in the template."),
        formats.joined("template.spec.containers", "image"),
    ),
    (Column(name="Pod Labels", text="The labels for the pod template."), formats.labels("template.metadata.labels")),
)

PODTEMPLATES = Kind(
    group="",
    plural="podtemplates",
    kind="PodTemplate",
    strategy=PodTemplateStrategy(has_generation=True),
    returns_deleted_object=True,
    columns=_COLUMNS,
    gated=pod_history.gated("template.spec"),
    errors=pod_history.ERRORS,
)
