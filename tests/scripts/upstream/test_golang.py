"""The reader of Go: declarations and statements of the kinds that Kubernetes' sources have."""

import pytest

from scripts.upstream.golang import builds, parser, scanner
from scripts.upstream.golang.packages import Package, Packages
from scripts.upstream.golang.syntax import Assignment, If, OpaqueStatement, StructType
from scripts.upstream.problems import NotUnderstood, Unusable

TYPES = """package v1

import (
	"time"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Phase is where it is.
// +enum
type Phase string

const (
	// Before anything.
	Pending Phase = "Pending"
	Running       = "Run" + "ning" // in the middle
	_, Last       = iota, 1 << iota
	Next
)

type (
	Alias = meta.Time
	Box[T any] struct{ value T }
)

type Thing struct {
	meta.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// What it does.
	First, Second *string                 `json:"first"`
	Deep          map[string][]meta.Label `json:"deep"`
	Call          func(a int, b ...string) (bool, error)
	Times         [3]time.Time
	Handle        Box[string]
}

var table = map[Phase][]int{Pending: {1, 2}, "x": {len("abc"), 'a', 0x1F, 1.5}}

func (t *Thing) Method(x interface{ Do() }) (struct{ A int }, error) {
	for i := range []string{"a"} { _ = i }
	return struct{ A int }{1}, nil
}

func Plain()
"""


class Files:
    """A tree of files in memory."""

    release = "v1.0.0"

    def __init__(self, files: dict[str, str]) -> None:
        self._files = files

    @property
    def paths(self) -> list[str]:
        return sorted(self._files)

    def read(self, path: str) -> str:
        return self._files[path]

    def close(self) -> None:
        """Nothing is open."""


def package_of(source: str, **files: str) -> Package:
    tree = Files({"staging/src/k8s.io/a/v1/types.go": source, **files})
    return Packages(tree).of("k8s.io/a/v1")


def test_the_declarations_of_a_file_are_read() -> None:
    file = parser.parsed("types.go", TYPES)

    assert file.imports == {"time": "time", "meta": "k8s.io/apimachinery/pkg/apis/meta/v1"}
    assert [one.name for one in file.types] == ["Phase", "Alias", "Box", "Thing"]
    assert [one.name for one in file.functions] == ["Method", "Plain"]
    assert file.types[0].doc == ("Phase is where it is.", "+enum")


def test_the_fields_of_a_struct_have_names_tags_and_comments() -> None:
    [thing] = [one for one in parser.parsed("types.go", TYPES).types if one.name == "Thing"]

    assert isinstance(thing.type, StructType)
    names = [(field.name, field.is_embedded) for field in thing.type.fields]
    assert names[:3] == [("ObjectMeta", True), ("First", False), ("Second", False)]
    assert thing.type.fields[2].tag == 'json:"first"'
    assert thing.type.fields[1].doc == ("What it does.",)


def test_constants_have_values() -> None:
    package = package_of(TYPES)

    assert [package.constant(name) for name in ("Pending", "Running", "Last", "Next")] == ["Pending", "Running", 4, 8]


def test_a_constant_of_another_package_has_its_value() -> None:
    other = {"staging/src/k8s.io/b/types.go": "package b\n\nconst Name = `quoted`\n"}

    package = package_of('package v1\n\nimport "k8s.io/b"\n\nconst Own = string(b.Name)\n', **other)

    assert package.constant("Own") == "quoted"


def test_statements_are_read_where_a_table_needs_them() -> None:
    source = """package v1

func SetDefaults_A(obj *A) {
	var first = 1
	if obj.B == nil {
		obj.B = &first
	} else if x := f(); x {
		g()
	}
	switch obj.C { case T{}.D: h() }
	obj.E++
}
"""
    [function] = parser.parsed("defaults.go", source).functions

    statements = parser.statements("defaults.go", function)

    assert [type(one) for one in statements] == [Assignment, If, OpaqueStatement, OpaqueStatement]
    assert isinstance(statements[1], If)
    assert statements[1].has_else


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("package v1\n\ntype A struct {\n\tB !\n}\n", r"types\.go:4: a name expected, not '!'"),
        ("package v1\n\nconst A = #\n", r"types\.go:3: no token of Go: '#"),
        ("package v1\n\nfunc A() {\n", r"types\.go:\d: a bracket is not closed"),
    ],
)
def test_what_is_not_understood_is_named_with_file_and_line(source: str, message: str) -> None:
    with pytest.raises(NotUnderstood, match=message):
        parser.parsed("types.go", source)


def test_an_unknown_package_is_named() -> None:
    with pytest.raises(Unusable, match=r"v1\.0\.0 has no package k8s\.io/nowhere"):
        Packages(Files({})).of("k8s.io/nowhere")


def test_tests_and_generated_code_are_no_part_of_a_package() -> None:
    others = {"staging/src/k8s.io/a/v1/types_test.go": "#", "staging/src/k8s.io/a/v1/zz_generated.deepcopy.go": "#"}

    assert package_of("package v1\n\ntype A string\n", **others).types.keys() == {"A"}


@pytest.mark.parametrize(
    ("line", "is_built"),
    [
        ("linux && !windows", True),
        ("(darwin || bsd) && cgo", False),
        ("go1.21", True),
        ("!kubernetes_protomessage", True),
    ],
)
def test_a_build_constraint_decides_whether_a_file_is_read(line: str, is_built: bool) -> None:
    source = f"//go:build {line}\n\npackage v1\n"

    assert builds.is_built("types.go", source) is is_built
    assert not builds.is_built("types_windows.go", source)


def test_a_semicolon_ends_a_line_where_go_puts_one() -> None:
    texts = [token.text for token in scanner.tokens("a.go", "f(\n\ta,\n)\nreturn\nx++\n")]

    assert texts == ["f", "(", "a", ",", ")", ";", "return", ";", "x", "++", ";", ""]
