"""parameters: the query parameters of each verb and of the kinds of options, with their descriptions.

kube-apiserver makes a parameter of each field of an options type that is a scalar or a list of scalars. The
descriptions are in types_swagger_doc_generated.go. Must hold: a parameter without a description is an error.
"""

from collections.abc import Iterator, Mapping

from scripts.upstream.facts import go_fields, values
from scripts.upstream.facts.go_fields import GoField
from scripts.upstream.facts.release import Release
from scripts.upstream.golang.packages import Package
from scripts.upstream.problems import NotUnderstood

_META = "k8s.io/apimachinery/pkg/apis/meta/v1"
_CORE = "k8s.io/api/core/v1"
OPTIONS = {
    "list": (_META, "ListOptions"),
    "create": (_META, "CreateOptions"),
    "update": (_META, "UpdateOptions"),
    "patch": (_META, "PatchOptions"),
    "delete": (_META, "DeleteOptions"),
    "PodLogOptions": (_CORE, "PodLogOptions"),
    "PodExecOptions": (_CORE, "PodExecOptions"),
    "PodAttachOptions": (_CORE, "PodAttachOptions"),
    "PodPortForwardOptions": (_CORE, "PodPortForwardOptions"),
    "PodProxyOptions": (_CORE, "PodProxyOptions"),
    "ServiceProxyOptions": (_CORE, "ServiceProxyOptions"),
    "NodeProxyOptions": (_CORE, "NodeProxyOptions"),
}
_TYPES = {"bool": "boolean", "int32": "integer", "int64": "integer", "string": "string"}

Parameters = Mapping[str, Mapping[str, tuple[str, str]]]
"""Type and description, by verb or kind of options, and by name."""


def of_release(release: Release) -> Parameters:
    """The parameters of a release. Raises NotUnderstood."""
    return {name: dict(sorted(_parameters(release, *place))) for name, place in OPTIONS.items()}


def _parameters(release: Release, import_path: str, struct: str) -> Iterator[tuple[str, tuple[str, str]]]:
    package = release.packages.of(import_path)
    file, variable = package.variables[f"map_{struct}"]
    descriptions = values.json_of(package, file, variable.value)
    for field in go_fields.fields_of(package, struct):
        kind = _type(package, field)
        if field.name and kind:
            if field.name not in descriptions:
                raise NotUnderstood(file.path, variable.line, f"{struct}.{field.name} has no description")
            yield field.name, (kind, descriptions[field.name])


def _type(package: Package, field: GoField) -> str:
    """The type of a parameter; empty for a field that is none."""
    name = field.type.removeprefix("[]")
    own = name.removeprefix(f"{package.name}.")
    if own in package.types and own != name:
        declared = package.types[own][1].type
        name = getattr(declared, "text", "")
    return _TYPES.get(name, "")
