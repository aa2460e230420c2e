"""Pod templates: a template of pods by itself."""

from dataclasses import dataclass

from registry.core import pod_spec
from registry.kind import Kind
from registry.strategy import Strategy
from storage.stored_object import Object


@dataclass(frozen=True, kw_only=True)
class PodTemplateStrategy(Strategy):
    """The template is all that there is."""

    def default(self, obj: Object) -> None:
        pod_spec.default_template(obj.get("template"))


PODTEMPLATES = Kind(
    group="",
    plural="podtemplates",
    kind="PodTemplate",
    strategy=PodTemplateStrategy(has_generation=True),
    returns_deleted_object=True,
)
