"""Writes a source tree of Kubernetes from the tables, as scripts/generate reads it.

It has the files that the generator reads, and in them what the tables have: a tree for tests, since Kubernetes' own
is not in this repository. What is written in one way here stands in several ways in Kubernetes' files.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from aio_apiserver.registry.base.timeline import Version
from aio_apiserver.registry.machinery.schema import definitions, wire
from aio_apiserver.registry.machinery.schema.wire import WireField
from scripts.upstream.facts import gates as gate_facts
from scripts.upstream.facts import internal_structs, openapi, parameters, roles, schemes
from scripts.upstream.facts.internal_structs import json_name
from scripts.upstream.facts.release import import_path_of
from scripts.upstream.generation import TABLES
from scripts.upstream.golang.packages import folder_of
from tests.scripts.upstream.go_package import INTSTR, META, RESOURCE, GoPackage, struct, text

Schemas = Mapping[str, Mapping[str, Any]]
_SCALARS = {
    "bool": "bool",
    "bytes": "[]byte",
    "double": "float64",
    "int32": "int32",
    "int64": "int64",
    "string": "string",
}
_SHAPES = {"text": "string", "number": "int32", "flag": "bool", "any": "interface{}"}
_SPECIAL_SHAPES = {
    "duration": (META, "Duration"),
    "meta": (META, "LabelSelector"),
    "number-or-text": (INTSTR, "IntOrString"),
    "quantity": (RESOURCE, "Quantity"),
}
_NEVER_ENCODED = "io.k8s.apimachinery.pkg.version."
_NAMED = "k8s.io/named/"
"""Where the named types of other packages are, of which the tables have the last part of the package alone."""


def facts_of(root: Path, minor: Version) -> dict[str, Any]:
    """The facts of a minor in the tables, by the titles of the tables."""
    facts = {}
    for table in TABLES:
        paths = [path for path in table.paths(root) if (root / path).exists()]
        facts[table.title] = table.parsed({path: (root / path).read_text() for path in paths})[minor]
    return facts


def write(folder: Path, facts: Mapping[str, Any], published: Schemas) -> None:
    """Write the tree of a release with these facts and definitions."""
    for path, source in SourceTree(facts, published).files().items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(source)


class SourceTree:
    """The files of one release."""

    def __init__(self, facts: Mapping[str, Any], published: Schemas) -> None:
        self._facts = facts
        self._published = published
        self._packages: dict[str, GoPackage] = {}
        self._messages = {package: self._own(package, rows) for package, rows in facts["fields"].items()}

    def _own(self, package: str, messages: Mapping[str, Any]) -> dict[str, dict[str, WireField]]:
        """The messages of a package without the fields that other minors had."""
        return {
            name: {
                field: row
                for field, row in ((field, WireField(*cells)) for field, cells in rows.items())
                if self._is_own(_definition(_import_path(package), name), field, row)
            }
            for name, rows in messages.items()
        }

    def _is_own(self, definition: str, field: str, row: WireField) -> bool:
        properties = self._published.get(definition, {}).get("properties", {})
        return not properties or wire.letters(field) in map(wire.letters, properties) or wire.is_embedded(field, row)

    def files(self) -> Mapping[str, str]:
        for package, messages in self._messages.items():
            self._package_of_messages(package, messages)
        for name, schema in self._published.items():
            if name.startswith(_NEVER_ENCODED):
                self._never_encoded(name, schema)
        for name, cells in self._facts["internal structs"].items():
            group, _, struct_name = name.partition(".")
            self._internal(group, struct_name, cells)
        self._registrations()
        self._defaults()
        self._gates()
        self._descriptions()
        self.package(META).declare("Duration", "struct{}")
        sources = [package.files for package in self._packages.values()]
        return {
            **{path: source for files in sources for path, source in files.items()},
            **dict(self._protos()),
            **dict(self._roles()),
            **dict(self._schemes()),
            openapi.PATH: "\n".join(self._openapi()),
        }

    def package(self, import_path: str) -> GoPackage:
        return self._packages.setdefault(import_path, GoPackage(import_path))

    def _package_of_messages(self, proto: str, messages: Mapping[str, Mapping[str, WireField]]) -> None:
        package = self.package(_import_path(proto))
        for fields in messages.values():
            for field in fields.values():
                self._declare_named(package, field, messages)
        for name, fields in messages.items():
            package.declare(name, struct(list(self._fields(package, name, fields))))

    def _never_encoded(self, definition: str, schema: Mapping[str, Any]) -> None:
        """A type without a message, whose fields are texts."""
        options = {name: "" if name in schema["required"] else ",omitempty" for name in schema["properties"]}
        fields = [f'{name.capitalize()} string `json:"{name}{option}"`' for name, option in options.items()]
        self.package(import_path_of(definition)).declare(definition.rpartition(".")[2], struct(fields))

    def _fields(self, package: GoPackage, name: str, fields: Mapping[str, WireField]) -> Iterator[str]:
        definition = _definition(package.import_path, name)
        schema = self._published.get(definition, {})
        properties = schema.get("properties", {})
        names = {wire.letters(one): one for one in properties}
        placed = {names[wire.letters(field)] for field in fields if wire.letters(field) in names}
        if {"kind", "apiVersion"} <= properties.keys() - placed:
            yield f'{package.imported(META, "TypeMeta")} `json:",inline"`'
        for field, row in fields.items():
            in_json = names.get(wire.letters(field)) or self._name_inside(package, name, field)
            type_ = self._type(package, row)
            protobuf = f'protobuf:"bytes,{row.number},opt,name={field}"'
            if properties and wire.letters(field) not in names:
                yield f'{type_} `json:",inline" {protobuf}`'
            else:
                options = ("" if row.is_printed else ",omitempty") + (",omitzero" if row.hides_zero else "")
                pointer = "*" if row.is_pointer else ""
                go_name = self._go_name(package, name, in_json)
                yield f'{go_name} {pointer}{type_} `json:"{in_json}{options}" {protobuf}`'

    def _names_inside(self, package: GoPackage, type_: str) -> Mapping[str, str]:
        """The names of the fields of an internal struct in JSON, by those in Go."""
        group = package.import_path.split("/")[-2]
        cells = self._facts["internal structs"].get(f"{group}.{type_}", ())
        names = (cell.partition(":")[0].partition("=") for cell in cells if cell[0].isupper())
        return {name: given or json_name(name) for name, _, given in names}

    def _name_inside(self, package: GoPackage, type_: str, field: str) -> str:
        """The name in JSON of a field of a message without a definition."""
        names = self._names_inside(package, type_).items()
        return next((in_json for name, in_json in names if wire.letters(name) == wire.letters(field)), field)

    def _go_name(self, package: GoPackage, type_: str, in_json: str) -> str:
        """Go's name of a field: that of the internal struct, where it has the field."""
        for name, in_row in self._names_inside(package, type_).items():
            if in_row == in_json:
                return name
        letters = "".join(one if one.isalnum() else "_" for one in in_json)
        return "X" + letters if not letters[0].isalpha() else letters[0].upper() + letters[1:]

    def _type(self, package: GoPackage, row: WireField) -> str:
        """The Go expression of a field's type, without its pointer."""
        if row.go_type:
            return self._named(package, row.go_type)
        if row.label == "map":
            key, _, value = row.type.removeprefix("map<").removesuffix(">").partition(",")
            return f"map[{_SCALARS[key]}]{self._message(package, value)}"
        return ("[]" if row.label == "repeated" else "") + self._message(package, row.type)

    def _message(self, package: GoPackage, name: str) -> str:
        if name in _SCALARS:
            return _SCALARS[name]
        owner, _, message = name.removeprefix(".").rpartition(".")
        return package.imported(_import_path(owner) if owner else package.import_path, message)

    def _named(self, package: GoPackage, go_type: str) -> str:
        if go_type.startswith("[]"):
            return "[]" + self._named(package, go_type[2:])
        if go_type.startswith("map["):
            key, _, value = go_type[4:].partition("]")
            return f"map[{self._named(package, key)}]{self._named(package, value)}"
        owner, dot, name = go_type.rpartition(".")
        if not dot:
            return name
        return package.imported(package.import_path if owner == package.name else _NAMED + owner, name)

    def _declare_named(self, package: GoPackage, row: WireField, messages: Mapping[str, Any]) -> None:
        """Declare the named types in Go's name of a type, where they are no messages."""
        is_inner = row.go_type.startswith(("[]", "map["))
        names = row.go_type.replace("map[", "").replace("[]", "").split("]")
        for named in names:
            owner, dot, name = named.rpartition(".")
            if not dot:
                continue
            home = package if owner == package.name else self.package(_NAMED + owner)
            if home is package and name in messages:
                if list(messages[name]) == ["items"]:
                    package.declare(name, "[]string")
                elif len(names) == 1:
                    package.declare(name, f"{name}Fields")
                    package.declare(f"{name}Fields", struct(list(self._fields(package, name, messages[name]))))
            elif is_inner or row.label == "optional":
                home.declare(name, "string")
            else:
                home.declare(name, self._type(home, WireField(row.number, row.type, row.label)))

    def _internal(self, group: str, name: str, cells: list[str]) -> None:
        servers = internal_structs.SERVERS
        package = self.package(servers.get(group, f"k8s.io/kubernetes/pkg/apis/{group}"))
        fields = [self._internal_field(package, cell) for cell in cells if not cell.startswith("~")]
        fields += [package.imported(META, "TypeMeta")] if "+metadata" in cells else []
        if fields or not cells:
            package.declare(name, struct(fields))

    def _internal_field(self, package: GoPackage, cell: str) -> str:
        if cell == "+metadata":
            return package.imported(META, "ObjectMeta")
        if cell.startswith("+"):
            return self._shape(package, cell[1:])
        name, _, shape = cell.partition(":")
        return f"{name.partition('=')[0]} {self._shape(package, shape)}"

    def _shape(self, package: GoPackage, shape: str) -> str:
        for prefix, go in (("*", "*"), ("[]", "[]"), ("{}", "map[string]")):
            if shape.startswith(prefix):
                return go + self._shape(package, shape[len(prefix) :])
        if shape in _SHAPES:
            return _SHAPES[shape]
        if shape in _SPECIAL_SHAPES:
            return package.imported(*_SPECIAL_SHAPES[shape])
        group, dot, name = shape.rpartition(".")
        return package.imported(f"k8s.io/kubernetes/pkg/apis/{group}", name) if dot else name

    def _registrations(self) -> None:
        """The kinds that are served, and those that are read only."""
        kinds: dict[tuple[str, str, str], list[str]] = {}
        for definition, schema in self._published.items():
            for one in schema.get("x-kubernetes-group-version-kind", ()):
                key = (import_path_of(definition), one["group"], one["version"])
                kinds.setdefault(key, []).append(one["kind"])
        homes = {(group, version): path for path, group, version in kinds if path.startswith("k8s.io/api/")}
        for group, types in self._facts["types"].items():
            for kind, facts in types.items():
                for api_version in facts.get("old_versions", {}).get("", ()):
                    owner, _, version = api_version.rpartition("/")
                    path = homes.get((owner, version)) or _home(group, version)
                    kinds.setdefault((path, owner, version), []).append(kind)
                for other in facts.get("other_groups", {}).get("", ()):
                    self._shared(f"k8s.io/kubernetes/pkg/apis/{group}", kind, other)
        for (path, group, version), names in kinds.items():
            if path.rpartition("/")[2] == version and not path.startswith("k8s.io/apimachinery/"):
                self._register(self.package(path), group, [f"&{name}{{}}" for name in names])

    def _shared(self, owner: str, kind: str, group: str) -> None:
        package = self.package(f"k8s.io/kubernetes/pkg/apis/{group.partition('.')[0]}")
        self._register(package, group, [f"&{package.imported(owner, kind)}{{}}"])

    def _register(self, package: GoPackage, group: str, types: list[str]) -> None:
        package.registrations.setdefault(group, []).extend(types)

    def _defaults(self) -> None:
        for group, types in self._facts["types"].items():
            for key, facts in types.items():
                version, dot, name = key.partition(".")
                definition = self._definition_of(group, version, name) if dot else ""
                coded = {
                    field: value
                    for field, value in facts.get("defaults", {}).items()
                    if field not in facts.get("openapi_defaults", {})
                }
                if definition and coded:
                    self._defaulting(import_path_of(definition), name, coded)

    def _definition_of(self, group: str, version: str, name: str) -> str:
        return next((one for one in self._published if one.endswith(f".{group}.{version}.{name}")), "")

    def _defaulting(self, import_path: str, name: str, coded: Mapping[str, Any]) -> None:
        code = import_path
        if import_path.startswith("k8s.io/api/"):
            code = f"k8s.io/kubernetes/pkg/apis/{import_path.removeprefix('k8s.io/api/')}"
        package, rows = self.package(code), []
        for field, value in coded.items():
            go_name = self._go_name(self.package(import_path), name, field)
            literal = "Empty{}" if value == {} else text(value)
            rows.append(f"\tif obj.{go_name} == nil {{\n\t\tvalue := {literal}\n\t\tobj.{go_name} = &value\n\t}}\n")
        package.bodies.append(f"func SetDefaults_{name}(obj *{name}) {{\n{''.join(rows)}}}\n")

    def _gates(self) -> None:
        specs, needs, names = [], [], []
        for name, gate in self._facts["feature gates"].items():
            rows = "".join(
                f"\t\t{{Version: version.MustParse({text(since)}), Default: {text(is_on)}, "
                f"LockToDefault: {text(is_locked)}, PreRelease: featuregate.{stage}}},\n"
                for since, stage, is_on, is_locked in gate.specs
            )
            names.append(f"\t{name} featuregate.Feature = {text(name)}\n")
            specs.append(f"\t{name}: {{\n{rows}\t}},\n")
            needs.append(f"\t{name}: {{{', '.join(gate.needs)}}},\n")
        for path in gate_facts.PACKAGES:
            self.package(path)
        key = "map[featuregate.Feature]"
        self.package(gate_facts.PACKAGES[0]).bodies += [
            f"const (\n{''.join(names)})\n",
            f"var table = {key}featuregate.VersionedSpecs{{\n{''.join(specs)}}}\n",
            f"var dependencies = {key}[]featuregate.Feature{{\n{''.join(needs)}}}\n",
        ]

    def _descriptions(self) -> None:
        for user, (path, options) in parameters.OPTIONS.items():
            rows = {name: description for name, (_, description) in self._facts["parameters"][user].items()}
            lines = "".join(f"\t{text(name)}: {text(description)},\n" for name, description in rows.items())
            self.package(path).bodies.append(f"var map_{options} = map[string]string{{\n{lines}}}\n")

    def _protos(self) -> Iterator[tuple[str, str]]:
        for proto, messages in self._messages.items():
            lines = ['syntax = "proto2";', "", f"package {proto};"]
            for name, fields in messages.items():
                body = [
                    f"  {_label(row)}{row.type.replace(',', ', ')} {field} = {row.number};"
                    for field, row in fields.items()
                ]
                lines += [f"message {name} {{", *body, "}"]
            yield f"{folder_of(_import_path(proto))}/generated.proto", "\n".join(lines) + "\n"

    def _roles(self) -> Iterator[tuple[str, str]]:
        kinds = {plural: kind for kind, plural in roles.PLURALS.items()}
        items = [_role(kinds[plural], row) for plural, rows in self._facts["roles"].items() for row in rows]
        for name in roles.FILES:
            yield f"{roles.FOLDER}{name}.yaml", yaml.safe_dump({"items": items if name == roles.FILES[0] else []})

    def _schemes(self) -> Iterator[tuple[str, str]]:
        for name, path in schemes.FILES.items():
            line = int(self._facts["schemes"][name].rpartition(":")[2])
            yield path, f"package {path.split('/')[-2]}\n" + "\n" * (line - 2) + "var Scheme = runtime.NewScheme()\n"

    def _openapi(self) -> Iterator[str]:
        yield "package openapi\n\nimport ()\n"
        yield "func GetOpenAPIDefinitions(ref common.ReferenceCallback) map[string]common.OpenAPIDefinition {"
        names = [name for name in self._published if "properties" in self._published[name]]
        for number, name in enumerate(names):
            yield f'\t\t"{import_path_of(name)}.{name.rpartition(".")[2]}": schema_T{number}(ref),'
        yield "}"
        for number, name in enumerate(names):
            yield f"func schema_T{number}(ref common.ReferenceCallback) common.OpenAPIDefinition {{"
            yield from self._openapi_type(name)
            yield "}"

    def _openapi_type(self, definition: str) -> Iterator[str]:
        group, version, name = definition.rsplit(".", 3)[-3:]
        facts = self._facts["types"].get(group, {}).get(f"{version}.{name}", {})
        properties = self._published[definition]["properties"]
        required = self._published[definition].get("required", ())
        letters = frozenset(map(wire.letters, properties))
        for field in properties:
            yield f'\t\t\t\t\t"{field}": {{'
            row = self._row(definition, field, letters) or WireField(0, "", "", "!" if field in required else "")
            default = facts.get("openapi_defaults", {}).get(field)
            default = self._enforced(definitions.cleaned(properties[field]), row) if default is None else default
            if default is not None:
                yield f"\t\t\t\t\t\t\tDefault: {text(default)},"
            if (enum := facts.get("enums", {}).get(field)) is not None:
                yield f"\t\t\t\t\t\t\tEnum: {text(enum)},"
            yield "\t\t\t\t\t},"

    def _row(self, definition: str, field: str, names: frozenset[str]) -> WireField | None:
        """The row of a field, which may be in an embedded struct. names: the letters of all fields."""
        proto = "k8s.io." + definition.removeprefix("io.k8s.").rpartition(".")[0].replace("-", "_")
        rows = self._messages.get(proto, {}).get(definition.rpartition(".")[2], {})
        for name, row in rows.items():
            if wire.letters(name) == wire.letters(field):
                return row
        embedded = (
            row for name, row in rows.items() if wire.letters(name) not in names and wire.is_embedded(name, row)
        )
        inner = (wire.definition_of(definition, row.type) for row in embedded)
        return next(filter(None, (self._row(one, field, names) for one in inner)), None)

    def _enforced(self, schema: Mapping[str, Any], row: WireField) -> Any:
        """The default that Go's type enforces."""
        if row.is_pointer:
            return None
        definition = definitions.referenced(schema)
        if definition:
            return {} if "properties" in self._published[definition] else None
        if not row.is_printed or schema.get("format") == "byte":
            return None
        return {"string": "", "integer": 0, "number": 0, "boolean": False}.get(schema.get("type", ""))


def _label(row: WireField) -> str:
    return "" if row.label == "map" else f"{row.label} "


def _role(kind: str, row: Mapping[str, Any]) -> Mapping[str, Any]:
    labels = {"kubernetes.io/bootstrapping": "rbac-defaults", **row.get("labels", {})}
    metadata = {
        "name": row["name"],
        "labels": labels,
        "annotations": {"rbac.authorization.kubernetes.io/autoupdate": "true"},
        **({"namespace": row["namespace"]} if "namespace" in row else {}),
    }
    rest = {name: value for name, value in row.items() if name not in {"name", "labels", "namespace"}}
    return {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": metadata, **rest}


def _import_path(proto: str) -> str:
    """The import path of a proto package: `k8s.io.kube_aggregator.pkg` is `k8s.io/kube-aggregator/pkg`."""
    return "k8s.io/" + proto.removeprefix("k8s.io.").replace(".", "/").replace("_", "-")


def _definition(import_path: str, name: str) -> str:
    return f"io.k8s.{import_path.removeprefix('k8s.io/').replace('/', '.')}.{name}"


def _home(group: str, version: str) -> str:
    return f"{internal_structs.SERVERS.get(group, f'k8s.io/api/{group}')}/{version}"
