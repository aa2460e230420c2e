"""Estimates: the highest possible cost of a CEL expression, from its tree and the sizes of its variables.

Pure. Must hold: the results are kube-apiserver's, since they decide which rules a CRD may have.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from aio_apiserver.registry.machinery.cel import call_estimates
from aio_apiserver.registry.machinery.cel.call_estimates import Argument, Estimate
from aio_apiserver.registry.machinery.cel.checker import Checked
from aio_apiserver.registry.machinery.cel.costs import LIST_COST, MAP_COST, OBJECT_COST
from aio_apiserver.registry.machinery.cel.sizes import EMPTY_UNION, NOTHING, ONE, UNKNOWN, EstimateRange, exactly
from aio_apiserver.registry.machinery.cel.syntax import (
    Comprehension,
    Constant,
    Expr,
    FunctionCall,
    Ident,
    ListLiteral,
    MapLiteral,
    ObjectLiteral,
    Select,
)
from aio_apiserver.registry.machinery.cel.types import Type, TypeKind

Path = tuple[str, ...]
"""A variable, then field names or ITEMS, KEYS, VALUES."""
ITEMS, KEYS, VALUES, INDICES = "@items", "@keys", "@values", "@indices"

SizeOf = Callable[[Path], EstimateRange | None]
"""The possible sizes of the value at a path; None when no schema limits it."""

_ACCUMULATORS = frozenset({"@result", "__result__"})
_SCALARS = frozenset(
    {TypeKind.BOOL, TypeKind.DOUBLE, TypeKind.DURATION, TypeKind.INT, TypeKind.TIMESTAMP, TypeKind.UINT}
)


class _Entries(NamedTuple):
    """The sizes of the keys and values in a list or map."""

    container: TypeKind
    key: EstimateRange
    value: EstimateRange


class _Local(NamedTuple):
    """A variable of a comprehension."""

    path: Path
    size: EstimateRange | None
    entries: "_Entries | None"


def most(checked: Checked, size_of: SizeOf) -> int:
    """The highest cost of an evaluation."""
    return _Coster(checked, size_of).cost(checked.tree.root).high


class _Coster:
    def __init__(self, checked: Checked, size_of: SizeOf) -> None:
        self._checked = checked
        self._size_of = size_of
        self._paths: dict[int, Path] = {}
        self._sizes: dict[int, EstimateRange] = {}
        self._entries: dict[int, _Entries] = {}
        self._locals: dict[str, list[_Local]] = {}

    def cost(self, node: Expr) -> EstimateRange:
        match node:
            case Constant():
                return NOTHING
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
                return self._sum(entry.value for entry in node.fields).plus(exactly(OBJECT_COST))
            case Comprehension():
                return self._comprehension(node)
        raise AssertionError(node)

    def _sum(self, nodes: Iterable[Expr]) -> EstimateRange:
        total = NOTHING
        for node in nodes:
            total = total.plus(self.cost(node))
        return total

    # Names and fields

    def _ident(self, node: Ident) -> EstimateRange:
        local = self._local(node.name)
        self._paths[node.id] = local.path if local is not None else (node.name,)
        return ONE

    def _select(self, node: Select) -> EstimateRange:
        if node.id in self._checked.names:
            self._paths[node.id] = (self._checked.names[node.id],)
            return ONE
        cost = self.cost(node.operand)
        if node.is_test:
            return cost
        if self._type(node.operand).kind in (TypeKind.MAP, TypeKind.OBJECT, TypeKind.PARAM):
            cost = cost.plus(ONE)
        self._paths[node.id] = (*self._path(node.operand), node.field)
        return cost

    # Calls

    def _call(self, node: FunctionCall) -> EstimateRange:
        if node.function == "dyn":
            cost = self.cost(node.arguments[0])
            self._copy(node, node.arguments[0])
            return cost.plus(ONE)
        costs = [self.cost(argument) for argument in node.arguments]
        arguments = [self._argument(argument) for argument in node.arguments]
        is_member = node.target is not None and node.id not in self._checked.names
        total, target = NOTHING, None
        if is_member and node.target is not None:
            total = self.cost(node.target)
            target = self._argument(node.target)
        name = self._checked.names.get(node.id, node.function)
        if name == "_&&_" or name == "_||_":
            return EstimateRange(costs[0].low, costs[0].plus(costs[1]).high)
        cost, result = EMPTY_UNION, None
        for overload in self._checked.overloads.get(node.id, ()):
            found = self._estimate(node, name, overload, target, arguments, costs)
            cost = cost.joined(found.cost)
            if found.result is not None:
                result = found.result if result is None else result.joined(found.result)
            result = self._index(node, overload, result)
            if result is None:
                result = self._size(node)
        if cost == EMPTY_UNION:
            return NOTHING
        self._put_size(node, result)
        return total.plus(cost)

    def _estimate(
        self,
        node: FunctionCall,
        name: str,
        overload: str,
        target: Argument | None,
        arguments: Sequence[Argument],
        costs: Sequence[EstimateRange],
    ) -> Estimate:
        if name == "_?_:_":
            return self._conditional(node, arguments, costs)
        if name == "_+_":
            self._join_entries(node, node.arguments)
        found = call_estimates.estimate(name, overload, target, arguments)
        cost = found.cost
        for one in costs:
            cost = cost.plus(one)
        return Estimate(cost, found.result)

    def _conditional(
        self, node: FunctionCall, arguments: Sequence[Argument], costs: Sequence[EstimateRange]
    ) -> Estimate:
        self._join_entries(node, node.arguments[1:])
        cost = costs[0].plus(costs[1].joined(costs[2]))
        return Estimate(cost, arguments[1].size_or_unknown.joined(arguments[2].size_or_unknown))

    def _join_entries(self, node: Expr, parts: Sequence[Expr]) -> None:
        one, other = (self._entries_of(part) for part in parts[:2])
        if one is not None and other is not None:
            self._entries[node.id] = _Entries(one.container, one.key.joined(other.key), one.value.joined(other.value))

    def _index(self, node: FunctionCall, overload: str, result: EstimateRange | None) -> EstimateRange | None:
        """The size of an indexed element; notes the path of the element."""
        step = {"index_list": ITEMS, "index_map": VALUES}.get(overload)
        if step is None:
            return result
        container = node.arguments[0]
        self._paths[node.id] = (*self._path(container), step)
        entries = self._entries_of(container)
        return entries.value if entries is not None else None

    # Literals of lists, maps and objects

    def _list(self, node: ListLiteral) -> EstimateRange:
        element = EMPTY_UNION if node.elements else EstimateRange(0, 0)
        cost = NOTHING
        for one in node.elements:
            cost = cost.plus(self.cost(one))
            element = element.joined(self._size_or_unknown(one))
        self._entries[node.id] = _Entries(TypeKind.LIST, ONE, element)
        return cost.plus(exactly(LIST_COST))

    def _map(self, node: MapLiteral) -> EstimateRange:
        start = EMPTY_UNION if node.entries else EstimateRange(0, 0)
        key, value, cost = start, start, NOTHING
        for entry in node.entries:
            assert isinstance(entry.key, Expr)
            cost = cost.plus(self.cost(entry.key)).plus(self.cost(entry.value))
            key, value = key.joined(self._size_or_unknown(entry.key)), value.joined(self._size_or_unknown(entry.value))
        self._entries[node.id] = _Entries(TypeKind.MAP, key, value)
        return cost.plus(exactly(MAP_COST))

    # Comprehensions

    def _comprehension(self, node: Comprehension) -> EstimateRange:
        cost = self.cost(node.over).plus(self.cost(node.start))
        self._push(
            node.accumulator, _Local(self._path(node.start), self._size(node.start), self._entries_of(node.start))
        )
        names = self._push_variables(node)
        loop = self.cost(node.condition)
        step = self.cost(node.step)
        for name in names:
            self._locals[name].pop()
        cost = cost.plus(self.cost(node.result))
        self._locals[node.accumulator].pop()
        count = self._size_or_unknown(node.over)
        self._note_result(node, count)
        return cost.plus(count.times(step.plus(loop)))

    def _push_variables(self, node: Comprehension) -> list[str]:
        entries = self._entries_of(node.over)
        container = entries.container if entries is not None else self._type(node.over).kind
        path = self._path(node.over)
        key = entries.key if entries is not None else None
        value = entries.value if entries is not None else None
        is_list = container is TypeKind.LIST
        if node.second:
            self._push(node.variable, _Local((*path, INDICES if is_list else KEYS), key, None))
            self._push(node.second, _Local((*path, ITEMS if is_list else VALUES), value, None))
            return [node.variable, node.second]
        self._push(node.variable, _Local((*path, ITEMS if is_list else KEYS), value if is_list else key, None))
        return [node.variable]

    def _note_result(self, node: Comprehension, count: EstimateRange) -> None:
        if isinstance(node.start, Constant):
            self._put_size(node, self._size(node.start))
        elif isinstance(node.start, (ListLiteral, MapLiteral)):
            self._put_size(node, count)
            entries = self._entries_of(node.step)
            if entries is not None:
                self._entries[node.id] = entries

    # Sizes

    def _push(self, name: str, local: _Local) -> None:
        self._locals.setdefault(name, []).append(local)

    def _local(self, name: str) -> _Local | None:
        known = self._locals.get(name)
        return known[-1] if known else None

    def _type(self, node: Expr) -> Type:
        return self._checked.types[node.id]

    def _path(self, node: Expr) -> Path:
        if isinstance(node, Ident):
            local = self._local(node.name)
            if local is not None:
                return local.path
        return self._paths.get(node.id, ())

    def _argument(self, node: Expr) -> Argument:
        path = self._path(node)
        if path and path[0] in _ACCUMULATORS:
            path = ()
        of_type = self._type(node)
        element = self._size_of((*path, ITEMS)) if path and of_type.params else None
        return Argument(of_type, self._size(node), element, node.value if isinstance(node, Constant) else None)

    def _size_or_unknown(self, node: Expr) -> EstimateRange:
        size = self._size(node)
        return size if size is not None else UNKNOWN

    def _put_size(self, node: Expr, size: EstimateRange | None) -> None:
        if size is not None:
            self._sizes[node.id] = size

    def _copy(self, node: Expr, source: Expr) -> None:
        self._put_size(node, self._size(source))
        entries = self._entries_of(source)
        if entries is not None:
            self._entries[node.id] = entries

    def _size(self, node: Expr) -> EstimateRange | None:
        if node.id in self._sizes:
            return self._sizes[node.id]
        written = _written_size(node)
        if written is not None:
            return written
        path = self._path(node)
        found = self._size_of(path) if path else None
        if found is not None:
            self._sizes[node.id] = found
            return found
        if _is_scalar(self._type(node)):
            return ONE
        local = self._local(node.name) if isinstance(node, Ident) else None
        return local.size if local is not None else None

    def _entries_of(self, node: Expr) -> _Entries | None:
        if node.id in self._entries:
            return self._entries[node.id]
        local = self._local(node.name) if isinstance(node, Ident) else None
        return local.entries if local is not None else None


def _written_size(node: Expr) -> EstimateRange | None:
    match node:
        case Constant(value=str() | bytes() as text):
            return exactly(len(text))
        case Constant():
            return ONE
        case ListLiteral():
            return exactly(len(node.elements))
        case MapLiteral():
            return exactly(len(node.entries))
    return None


def _is_scalar(of: Type) -> bool:
    return of.kind in _SCALARS or (of.is_optional and _is_scalar(of.params[0]))
