"""Writes the source of a Go package: its imports, constants, types and functions."""

from collections.abc import Mapping, Sequence

from scripts.upstream.golang.packages import folder_of

RESOURCE = "k8s.io/apimachinery/pkg/api/resource"
META = "k8s.io/apimachinery/pkg/apis/meta/v1"
INTSTR = "k8s.io/apimachinery/pkg/util/intstr"


class GoPackage:
    """The parts of one package; a type is declared once."""

    def __init__(self, import_path: str) -> None:
        self.import_path = import_path
        self.name = import_path.rpartition("/")[2].replace("-", "_")
        self.types: dict[str, str] = {}
        self.bodies: list[str] = []
        self.registrations: dict[str, list[str]] = {}
        """The types that are registered, by group; a package has one."""
        self._imports: dict[str, str] = {}

    def declare(self, name: str, type_: str) -> None:
        self.types.setdefault(name, type_)

    def imported(self, import_path: str, name: str) -> str:
        """An expression for a name of a package, which may be this one."""
        if import_path == self.import_path:
            return name
        alias = self._imports.setdefault(import_path, f"p{len(self._imports)}")
        return f"{alias}.{name}"

    @property
    def files(self) -> Mapping[str, str]:
        """The sources by path. What registers kinds stands in a file of its own."""
        types = [f"type {name} {type_}\n" for name, type_ in self.types.items()]
        files = {"types.go": self._file([*types, *self.bodies])}
        if self.registrations:
            files["register.go"] = self._file([self._registering])
        return {f"{folder_of(self.import_path)}/{name}": source for name, source in files.items()}

    def _file(self, declarations: Sequence[str]) -> str:
        imports = [f'\t{alias} "{path}"' for path, alias in self._imports.items()]
        return "\n".join([f"package {self.name}\n", "import (", *imports, ")\n", *declarations])

    @property
    def _registering(self) -> str:
        groups = sorted(self.registrations)
        calls = "".join(
            f"\tscheme.AddKnownTypes(SchemeGroupVersion, {', '.join(self.registrations[group])})\n" for group in groups
        )
        names = "".join(f"const GroupName = {text(group)}\n" for group in groups)
        return f"{names}\nfunc addKnownTypes(scheme *Scheme) error {{\n{calls}\treturn nil\n}}\n"


def struct(fields: Sequence[str]) -> str:
    """A struct type of these rows."""
    return "struct {\n" + "".join(f"\t{field}\n" for field in fields) + "}"


def text(value: object) -> str:
    """The Go literal of a JSON value."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
    if isinstance(value, dict):
        return "map[string]interface{}{" + ", ".join(f"{text(name)}: {text(one)}" for name, one in value.items()) + "}"
    if isinstance(value, list):
        return "[]interface{}{" + ", ".join(map(text, value)) + "}"
    return str(value)
