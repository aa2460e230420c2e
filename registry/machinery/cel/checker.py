"""Checker: gives every node of a CEL tree its type, and every call its possible overloads.

Pure. Must hold: it finds all mistakes of a tree at once, in kube-apiserver's words. A mistake is reported once, not
again for the nodes above.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from msgspec import Struct, field

from aio_apiserver.registry.machinery.cel import names, types
from aio_apiserver.registry.machinery.cel.syntax import (
    Comprehension,
    Constant,
    EntryExpr,
    Expr,
    FunctionCall,
    Ident,
    ListLiteral,
    MapLiteral,
    ObjectLiteral,
    Select,
    Tree,
    complain,
)
from aio_apiserver.registry.machinery.cel.types import Function, Overload, Type, TypeKind
from aio_apiserver.registry.machinery.cel.unification import Bindings, most_general

OPTIONAL_SELECT = "_?._"


class Scope(Struct, frozen=True):
    """The declarations for an expression. `objects`: the fields of object types, by the name of the type."""

    variables: Mapping[str, Type]
    functions: Mapping[str, Function]
    objects: Mapping[str, Mapping[str, Type]]


class Checked(Struct, frozen=True):
    """A tree with the types of its nodes, the overloads of its calls, and the qualified names of variables and
    functions. `escaped`: the escaped names of selected fields that are reserved words.
    """

    tree: Tree
    types: Mapping[int, Type]
    overloads: Mapping[int, Sequence[str]]
    names: Mapping[int, str] = field(default_factory=dict)
    escaped: Mapping[int, str] = field(default_factory=dict)

    @property
    def result(self) -> Type:
        return self.types[self.tree.root.id]


def check(tree: Tree, scope: Scope) -> Checked:
    """Check a tree. Raises Issue with all mistakes."""
    checker = _Checker(scope)
    checker.check(tree.root)
    if checker.mistakes:
        raise complain(tree.text, [(tree.places.get(node, 0), text) for node, text in checker.mistakes])
    return checker.checked(tree)


_TYPE_NAMES = {
    **{name: types.type_of(one) for name, one in types.SIMPLE.items() if name not in ("dyn", "timestamp", "duration")},
    "null_type": types.type_of(types.NULL),
    "list": types.type_of(types.list_of(types.DYN)),
    "map": types.type_of(types.map_of(types.DYN, types.DYN)),
    "optional_type": types.type_of(types.optional_of(types.DYN)),
    "google.protobuf.Timestamp": types.type_of(types.TIMESTAMP),
    "google.protobuf.Duration": types.type_of(types.DURATION),
    **{name: types.type_of(types.opaque(name)) for name in ("net.IP", "net.CIDR")},
}
_LITERALS: tuple[tuple[type, Type], ...] = (
    (bool, types.BOOL),
    (int, types.INT),
    (float, types.DOUBLE),
    (str, types.STRING),
    (bytes, types.BYTES),
)


class _Checker:
    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._locals: dict[str, Type] = {}
        self._bindings = Bindings()
        self._types: dict[int, Type] = {}
        self._overloads: dict[int, list[str]] = {}
        self._names: dict[int, str] = {}
        self._escaped: dict[int, str] = {}
        self.mistakes: list[tuple[int, str]] = []

    def checked(self, tree: Tree) -> Checked:
        resolved = {node: self._bindings.resolved(one, frees=True) for node, one in self._types.items()}
        return Checked(tree, resolved, self._overloads, self._names, self._escaped)

    def check(self, node: Expr) -> Type:
        found = self._type_of(node)
        self._types[node.id] = found
        return found

    def _wrong(self, node: Expr, message: str) -> Type:
        self.mistakes.append((node.id, message))
        return types.ERROR

    def _type_of(self, node: Expr) -> Type:
        match node:
            case Constant():
                return self._literal(node)
            case Ident():
                return self._ident(node)
            case Select():
                return self._select(node)
            case FunctionCall():
                return self._call(node)
            case ListLiteral():
                return self._list(node)
            case MapLiteral():
                return self._map(node)
            case ObjectLiteral():
                return self._object(node)
            case Comprehension():
                return self._comprehension(node)
        raise AssertionError(node)

    def _literal(self, node: Constant) -> Type:
        if node.is_unsigned:
            return types.UINT
        for python, named in _LITERALS:
            if isinstance(node.value, python):
                return named
        return types.NULL

    # Names

    def _ident(self, node: Ident) -> Type:
        found = self._variable(node.name)
        return found if found is not None else self._undeclared(node, node.name)

    def _variable(self, name: str) -> Type | None:
        name = name.removeprefix(".")
        for known in (self._locals, self._scope.variables, _TYPE_NAMES):
            if name in known:
                return known[name]
        return types.type_of(types.object_named(name)) if name in self._scope.objects else None

    def _undeclared(self, node: Expr, name: str) -> Type:
        return self._wrong(node, f"undeclared reference to '{name}' (in container '')")

    def _select(self, node: Select) -> Type:
        name = None if node.is_test else qualified_name(node)
        variable = self._variable(name) if name else None
        if name and variable is not None:
            self._names[node.id] = name
            return variable
        found = self._field(node, node.operand, node.field)
        return types.BOOL if node.is_test else self._bindings.resolved(found)

    def _field(self, node: Expr, operand: Expr, name: str, *, is_optional: bool = False) -> Type:
        given = self._bindings.resolved(self.check(operand))
        target = given.params[0] if given.is_optional else given
        found = self._field_of(node, target, name)
        return types.optional_of(found) if is_optional or given.is_optional else found

    def _field_of(self, node: Expr, target: Type, name: str) -> Type:
        if target.kind is TypeKind.MAP:
            return target.params[1]
        if target.kind is TypeKind.OBJECT:
            return self._field_of_object(node, self._scope.objects.get(target.name, {}), name)
        if target.kind is TypeKind.PARAM:
            self._bindings.assigns(types.DYN, target)
        elif not target.is_wild:
            self._wrong(node, f"type '{target}' does not support field selection")
        return types.DYN

    def _field_of_object(self, node: Expr, fields: Mapping[str, Type], name: str) -> Type:
        if name in fields:
            return fields[name]
        escaped = names.keyword_field(name)
        if escaped is None or escaped not in fields:
            return self._wrong(node, f"undefined field '{name}'")
        self._escaped[node.id] = escaped
        return fields[escaped]

    # Calls

    def _call(self, node: FunctionCall) -> Type:
        if node.function == OPTIONAL_SELECT:
            return self._optional_select(node)
        given = [self.check(argument) for argument in node.arguments]
        if node.target is None:
            return self._resolve(node, node.function, given, is_member=False)
        prefix = qualified_name(node.target)
        qualified = f"{prefix}.{node.function}" if prefix else ""
        if qualified in self._scope.functions:
            self._names[node.id] = qualified
            return self._resolve(node, qualified, given, is_member=False)
        given.insert(0, self.check(node.target))
        return self._resolve(node, node.function, given, is_member=True)

    def _optional_select(self, node: FunctionCall) -> Type:
        operand, name = node.arguments
        assert isinstance(name, Constant)
        self._types[name.id] = types.STRING
        self._overloads[node.id] = ["select_optional_field"]
        return self._bindings.resolved(self._field(node, operand, name.value, is_optional=True))

    def _resolve(self, node: FunctionCall, name: str, given: list[Type], *, is_member: bool) -> Type:
        function = self._scope.functions.get(name.removeprefix("."))
        if function is None:
            return self._undeclared(node, name)
        if name in ("_&&_", "_||_"):
            return self._logic(node, given)
        result: Type | None = None
        for candidate in function.overloads:
            if candidate.is_member is not is_member or len(candidate.arguments) != len(given):
                continue
            wanted_result, wanted = self._signature(candidate)
            if not self._bindings.assigns_all(given, wanted):
                continue
            self._overloads.setdefault(node.id, []).append(candidate.id)
            found = self._bindings.resolved(wanted_result)
            if result is None:
                result = found
            elif result.kind is not TypeKind.DYN and found != result:
                result = types.DYN
        return result if result is not None else self._no_overload(node, name, given, is_member=is_member)

    def _signature(self, candidate: Overload) -> tuple[Type, Sequence[Type]]:
        """The result and argument types of an overload, with type parameters of its own."""
        if not candidate.is_generic:
            return candidate.result, candidate.arguments
        result, *arguments = self._bindings.renamed([candidate.result, *candidate.arguments])
        return result, arguments

    def _logic(self, node: FunctionCall, given: list[Type]) -> Type:
        is_right = True
        for argument, found in zip(node.arguments, given, strict=True):
            if not self._bindings.assigns(found, types.BOOL):
                self._wrong(argument, f"expected type 'bool' but found '{self._bindings.resolved(found)}'")
                is_right = False
        return types.BOOL if is_right else types.ERROR

    def _no_overload(self, node: FunctionCall, name: str, given: list[Type], *, is_member: bool) -> Type:
        shown = [str(self._bindings.resolved(one, frees=True)) for one in given]
        target = f"{shown.pop(0)}." if is_member else ""
        name = name.removeprefix(".")
        return self._wrong(node, f"found no matching overload for '{name}' applied to '{target}({', '.join(shown)})'")

    # Literals of lists, maps and objects

    def _list(self, node: ListLiteral) -> Type:
        element: Type | None = None
        for index, one in enumerate(node.elements):
            found = self.check(one)
            if index in node.optional:
                found = self._unwrapped(one, found)
            element = self._joined(element, found)
        return types.list_of(element if element is not None else self._bindings.fresh())

    def _map(self, node: MapLiteral) -> Type:
        key: Type | None = None
        value: Type | None = None
        for entry in node.entries:
            assert isinstance(entry.key, Expr)
            key = self._joined(key, self.check(entry.key))
            value = self._joined(value, self._value(entry))
        if key is None or value is None:
            key, value = self._bindings.fresh(), self._bindings.fresh()
        return types.map_of(key, value)

    def _value(self, entry: EntryExpr) -> Type:
        found = self.check(entry.value)
        return self._unwrapped(entry.value, found) if entry.is_optional else found

    def _unwrapped(self, node: Expr, found: Type) -> Type:
        if found.is_optional:
            return found.params[0]
        if found.kind is not TypeKind.DYN:
            self._wrong(node, f"expected type '{types.optional_of(found)}' but found '{found}'")
        return found

    def _joined(self, before: Type | None, found: Type) -> Type:
        """The common type of two elements."""
        if before is None:
            return found
        return most_general(before, found) if self._bindings.assigns(before, found) else types.DYN

    def _object(self, node: ObjectLiteral) -> Type:
        name = node.name.removeprefix(".")
        if name not in self._scope.objects:
            return self._undeclared(node, node.name)
        fields = self._scope.objects[name]
        for entry in node.fields:
            assert isinstance(entry.key, str)
            found = self._value(entry)
            wanted = fields.get(entry.key)
            if wanted is None:
                self.mistakes.append((entry.id, f"undefined field '{entry.key}'"))
            elif not self._bindings.assigns(wanted, found):
                text = f"expected type of field '{entry.key}' is '{wanted}' but provided type is '{found}'"
                self.mistakes.append((entry.id, text))
        return types.object_named(name)

    # Comprehensions

    def _comprehension(self, node: Comprehension) -> Type:
        over = self.check(node.over)
        accumulated = self.check(node.start)
        over = self._bindings.resolved(over)
        with self._with({node.accumulator: accumulated}):
            first, second = self._variables(node, over)
            with self._with({node.variable: first, **({node.second: second} if node.second else {})}):
                self._demand(node.condition, types.BOOL)
                self._demand(node.step, accumulated)
            found = self.check(node.result)
        return self._bindings.resolved(found)

    def _variables(self, node: Comprehension, over: Type) -> tuple[Type, Type]:
        if over.kind is TypeKind.LIST:
            [element] = over.params
            return (types.INT, element) if node.second else (element, types.ERROR)
        if over.kind is TypeKind.MAP:
            return over.params[0], over.params[1]
        if (over.is_wild and over != types.ANY) or over.kind is TypeKind.PARAM:
            self._bindings.assigns(types.DYN, over)
            return types.DYN, types.DYN
        text = f"expression of type '{over}' cannot be range of a comprehension (must be list, map, or dynamic)"
        return self._wrong(node.over, text), types.ERROR

    def _demand(self, node: Expr, wanted: Type) -> None:
        found = self.check(node)
        if not self._bindings.assigns(wanted, found):
            self._wrong(node, f"expected type '{self._bindings.resolved(wanted)}' but found '{found}'")

    @contextmanager
    def _with(self, variables: dict[str, Type]) -> Iterator[None]:
        before = self._locals
        self._locals = {**before, **variables}
        try:
            yield
        finally:
            self._locals = before


def qualified_name(node: Expr) -> str:
    """A chain of selections as one dotted name; empty when the node is something else."""
    if isinstance(node, Ident):
        return node.name
    if isinstance(node, Select) and not node.is_test:
        prefix = qualified_name(node.operand)
        return f"{prefix}.{node.field}" if prefix else ""
    return ""
