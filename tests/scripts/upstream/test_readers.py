"""The readers of facts: forms that Kubernetes' sources have and the written trees of other tests have not."""

from pathlib import Path

import pytest

from aio_apiserver.registry.base.timeline import Version
from aio_apiserver.registry.machinery.schema import definitions
from scripts.upstream import protos
from scripts.upstream.facts import defaults, gates, go_fields, roles, schemes
from scripts.upstream.facts.release import Release
from scripts.upstream.problems import NotUnderstood, Unusable
from scripts.upstream.tables import table
from tests.scripts.upstream.test_golang import Files

API, CODE = "staging/src/k8s.io/api/a/v1/types.go", "pkg/apis/a/v1/defaults.go"
FEATURES = "pkg/features/kube_features.go"


def release_of(**files: str) -> Release:
    return Release((1, 37), Files(files), definitions.load("1.37"))


def gates_of(source: str) -> dict[str, gates.Gate]:
    rest = {f"{folder}/a.go": "package a\n" for folder in map(table_folder, gates.PACKAGES[1:])}
    head = 'package features\n\nconst A featuregate.Feature = "A"\nconst B featuregate.Feature = "B"\n\n'
    return dict(gates.of_release(release_of(**rest, **{FEATURES: head + source})))


def table_folder(import_path: str) -> str:
    return f"staging/src/{import_path}"


def test_a_gate_has_its_stages_and_its_needs() -> None:
    found = gates_of(
        """
var specs = map[featuregate.Feature]featuregate.VersionedSpecs{
	A: {
		{Version: version.MustParse("1.36"), Default: false, PreRelease: featuregate.Alpha},
		{Version: version.MustParse("1.37"), Default: true, LockToDefault: true, PreRelease: featuregate.GA}, // kept
	},
	B: {{Version: version.MustParse("1.37"), PreRelease: featuregate.Beta}},
}
var needs = map[featuregate.Feature][]featuregate.Feature{A: {featuregate.Feature(B)}, B: {}}
"""
    )

    assert found["A"] == gates.Gate((("1.36", "Alpha", False, False), ("1.37", "GA", True, True)), ("B",))


def test_a_gate_without_versions_has_always_been_as_it_is() -> None:
    found = gates_of("var f = map[Feature]FeatureSpec{A: {Default: true, PreRelease: Beta}}\n")

    assert found["A"].specs == (("0.0", "Beta", True, False),)


def test_a_default_for_compatible_minors_begins_with_the_minor_after() -> None:
    found = gates_of(
        'var f = map[F.Feature]V{A: {{Version: v.M("1.37"), PreRelease: f.Beta, Default: true, '
        'MinCompatibilityVersion: v.M("1.37")}}}\n'
    )

    assert found["A"].specs == (("1.38", "Beta", True, False),)


def test_an_unknown_member_of_a_gate_is_an_error_with_file_and_line() -> None:
    with pytest.raises(NotUnderstood, match=rf"{FEATURES}:7: no member of a gate's specification"):
        gates_of('\nvar f = map[F.Feature]V{A: {{Version: v.M("1.37"), Emoji: "x"}}}\n')


def defaults_of(body: str) -> dict[str, object]:
    types = """package v1

type A struct {
	B *string `json:"b" protobuf:"bytes,1,opt,name=b"`
	C int32   `json:"c" protobuf:"varint,2,opt,name=c"`
	D *E      `json:"d" protobuf:"bytes,3,opt,name=d"`
	Inner     `json:",inline" protobuf:"bytes,4,opt,name=inner"`
}
type E struct{}
type Inner struct {
	F string `json:"f" protobuf:"bytes,1,opt,name=f"`
}
const Word = "word"
"""
    code = f'package v1\n\nimport v1 "k8s.io/api/a/v1"\n\nfunc SetDefaults_A(obj *v1.A) {{\n{body}\n}}\n'
    return dict(defaults.of_type(release_of(**{API: types, CODE: code}), "k8s.io/api/a/v1", "A"))


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ('if obj.B == nil { b := "x"; obj.B = &b }', {"b": "x"}),
        ("if obj.B == nil { obj.B = new(string)\n*obj.B = v1.Word }", {"b": "word"}),
        ("if obj.B == nil { obj.B = ptr.To(v1.Word) }", {"b": "word"}),
        ("if obj.C == 0 { obj.C = 1 << 3 }", {"c": 8}),
        ("hour := int64(time.Hour.Seconds())\nif obj.C == 0 { obj.C = hour }", {"c": 3600}),
        ("if obj.D == nil { obj.D = &v1.E{} }", {"d": {}}),
        ('if len(obj.F) == 0 { obj.F = "f" }', {"f": "f"}),
        ("if obj.C == 0 { obj.C = obj.Other }", {}),
        ("if obj.C == 0 && obj.B != nil { obj.C = 1 }", {}),
        ("if obj.C == 0 { obj.C = 1 } else { obj.C = 2 }", {}),
        ("if obj.C == 0 { if x { obj.C = 1 } }", {}),
        ("if obj.Spec.C == 0 { obj.Spec.C = 1 }", {}),
    ],
)
def test_a_default_that_depends_on_nothing_is_a_fact(body: str, fields: dict[str, object]) -> None:
    assert defaults_of(body) == fields


def test_a_default_that_is_no_constant_is_an_error() -> None:
    with pytest.raises(NotUnderstood, match=rf"{CODE}:6: no constant expression"):
        defaults_of("if obj.C == 0 { obj.C = random() }")


def test_a_field_tells_what_json_and_go_make_of_it() -> None:
    types = """package v1

import "k8s.io/apimachinery/pkg/types"

type Word string
type Words []string
type A struct {
	B Word                  `json:"b" protobuf:"bytes,1,opt,name=b"`
	C *types.UID            `json:"c,omitempty" protobuf:"bytes,2,opt,name=c"`
	D map[Word]Words        `json:"d,omitzero" protobuf:"bytes,3,rep,name=d"`
	E []byte                `protobuf:"bytes,4,opt,name=e"`
}
"""
    uid = {"staging/src/k8s.io/apimachinery/pkg/types/uid.go": "package types\n\ntype UID string\n"}
    package = release_of(**{API: types, **uid}).packages.of("k8s.io/api/a/v1")

    fields = {field.name: field for field in go_fields.fields_of(package, "A")}

    assert [one.type for one in fields.values()] == ["v1.Word", "types.UID", "map[v1.Word]v1.Words", "[]uint8"]
    assert [one.has_own_type for one in fields.values()] == [True, True, True, False]
    assert (fields["b"].is_printed, fields["c"].is_printed, fields["c"].is_pointer) == (True, False, True)
    assert (fields["d"].hides_zero, fields["E"].number) == (True, 4)


def test_messages_are_read_with_their_comments() -> None:
    lines = ['syntax = "proto2";', "package a.v1;", "/* all", "of it */", "message A {"]
    text = "\n".join([*lines, "  // B is b.", "  map<string, bytes> b = 2;", "}", ""])

    package = protos.parsed("a.proto", text)

    assert package.messages == {"A": (("b", 2, "map<string,bytes>", "map"),)}


@pytest.mark.parametrize("line", ["oneof x {", "  required int32 a = 1;", "  optional int32 a = 1;"])
def test_another_line_of_a_proto_file_is_an_error(line: str) -> None:
    with pytest.raises(NotUnderstood, match=r"a\.proto:2: "):
        protos.parsed("a.proto", f"package a.v1;\n{line}\n")


def test_a_role_with_other_labels_is_an_error() -> None:
    row = "{apiVersion: v1, kind: Role, metadata: {name: a, namespace: b, labels: {x: y}, annotations: {}}, rules: []}"
    files = {f"{roles.FOLDER}{name}.yaml": f"items: [{row}]" for name in roles.FILES}

    with pytest.raises(NotUnderstood, match="a has other labels or annotations than all bootstrap roles"):
        roles.of_release(release_of(**files))


def test_a_scheme_that_is_made_twice_is_an_error() -> None:
    files = dict.fromkeys(schemes.FILES.values(), "runtime.NewScheme()\nruntime.NewScheme()\n")

    with pytest.raises(NotUnderstood, match="stands there 2 times"):
        schemes.of_release(release_of(**files))


OLD: Version = (1, 36)
NEW: Version = (1, 37)


def test_values_of_minors_stand_once() -> None:
    assert table.variants({(1, 35): "a", OLD: "a", NEW: "b"}) == ("b", {"1.35,1.36": "a"})
    assert list(table.spans({(1, 35): None, OLD: "a", NEW: "a"})) == [(OLD, None, "a")]
    assert list(table.spans({(1, 35): "a", OLD: "a", NEW: None})) == [(None, NEW, "a")]


def test_fields_of_older_minors_keep_their_place() -> None:
    assert table.in_order_of_both(["a", "c", "d"], ["a", "b", "c", "e"]) == ["a", "b", "c", "e", "d"]


def test_a_tree_without_messages_is_no_source(tmp_path: Path) -> None:
    with pytest.raises(Unusable, match=r"has no generated\.proto"):
        _ = release_of(**{API: ""}).protos
