"""Lists of strategic merge patches: elements merged by their key, deleted, replaced, and put in order.

Pure. Must hold: what a patch names comes in the order of the patch, the rest in the order that it had; where the two
say nothing of each other, what the patch names comes first. Time grows with the length of the lists, not its square.
"""

from collections.abc import Callable, Iterable
from typing import Any

import orjson

from aio_apiserver.registry.base.errors import StatusError, Unprocessable
from aio_apiserver.registry.machinery.patch import strategic_errors
from aio_apiserver.registry.machinery.patch.strategic_errors import Map
from aio_apiserver.registry.machinery.patch.strategic_rules import Rule
from aio_apiserver.registry.machinery.schema.model import Node

DIRECTIVE = "$patch"
DELETE = "delete"
REPLACE = "replace"
MERGE = "merge"

MergeMaps = Callable[[Map, Map, Node], Map]
Identity = tuple[type, Any]


def merged(original: list[Any], patch: list[Any], rule: Rule, *, merge_maps: MergeMaps) -> list[Any]:
    """The list after the patch."""
    if not original and not patch:
        return original
    if element_type(original, patch) is not dict:
        together = _distinct([*original, *patch])
        return in_order(together, patch, original, rule.merge_key)
    if not rule.merge_key:
        raise StatusError("cannot merge lists without merge key for struct")
    original, patch = _directed(original, patch, rule.merge_key)
    together = _merged_by_key(original, patch, rule, merge_maps)
    return in_order(together, patch, original, rule.merge_key)


def without(original: list[Any], deleted: list[Any]) -> list[Any]:
    """The scalars that are left."""
    if not original and not deleted:
        return original
    if element_type(original, deleted) is dict:
        raise StatusError("cannot merge lists without merge key for struct")
    gone = {identity(value) for value in deleted}
    return [value for value in original if identity(value) not in gone]


def element_type(*lists: list[Any]) -> type:
    """The one type that all elements have. Raises StatusError, Unprocessable."""
    types = {type(value) for values in lists for value in values}
    if not types:
        raise StatusError("no elements in any of the given slices")
    if list in types:
        raise Unprocessable
    if len(types) > 1 or type(None) in types:
        raise strategic_errors.mixed_elements(*lists)
    return types.pop()


def in_order(values: list[Any], first: list[Any], rest: list[Any], merge_key: str) -> list[Any]:
    """The values in two orders made one: those that `first` names in its order, the others in the order of `rest`."""
    named, given = _places(first, merge_key), _places(rest, merge_key)
    ids = [(element_identity(value, merge_key), value) for value in values]
    leading = sorted((pair for pair in ids if pair[0] in named), key=lambda pair: named[pair[0]])
    others = sorted((pair for pair in ids if pair[0] not in named), key=lambda pair: given.get(pair[0], -1))
    return _zipped(leading, others, given)


def _zipped(
    leading: list[tuple[Identity, Any]], others: list[tuple[Identity, Any]], given: dict[Identity, int]
) -> list[Any]:
    result: list[Any] = []
    waiting = iter(others)
    other = next(waiting, None)
    for one in leading:
        while other is not None and one[0] in given and other[0] in given and given[other[0]] < given[one[0]]:
            result.append(other[1])
            other = next(waiting, None)
        result.append(one[1])
    while other is not None:
        result.append(other[1])
        other = next(waiting, None)
    return result


def check_order(patch: list[Any], order: list[Any], merge_key: str) -> None:
    """The elements of a patch must be among those of the order that it asks for, and in that order."""
    if not patch or not order:
        return
    wanted = iter(order)
    for value in patch:
        if merge_key and _is_directive(value):
            continue
        mine = element_identity(value, merge_key)
        if not any(element_identity(one, merge_key) == mine for one in wanted):
            raise strategic_errors.other_order(patch, order)


def check_named(elements: list[Any], order: list[Any], merge_key: str) -> None:
    """Whoever looks for an element in an order reads it up to the element: there must be nothing but objects."""
    odd = next((place for place, one in enumerate(order) if not isinstance(one, dict)), None)
    if odd is None:
        return
    named = {identity(one[merge_key]) for one in order[:odd] if merge_key in one}
    for element in elements:
        if isinstance(element, dict) and merge_key in element and identity(element[merge_key]) not in named:
            raise StatusError(f"value for key {odd} is not a map")


def check_keys(elements: Iterable[Any], merge_key: str) -> None:
    """Objects cannot be put in order but by a key that all of them have."""
    for element in elements:
        if not isinstance(element, dict):
            raise strategic_errors.bad_type(dict, element)
        if merge_key not in element:
            raise strategic_errors.no_merge_key(element, merge_key)


def identity(value: Any) -> Identity:
    """What makes a value the same as another, numbers of other types excepted."""
    return type(value), orjson.dumps(value) if isinstance(value, dict | list) else value


def element_identity(element: Any, merge_key: str) -> Identity:
    """What names an element: its merge key, or itself where there is none."""
    if not merge_key:
        return identity(element)
    if not isinstance(element, dict):
        raise strategic_errors.bad_type(dict, element)
    if merge_key not in element:
        raise strategic_errors.no_merge_key(element, merge_key)
    return identity(element[merge_key])


def _places(values: Iterable[Any], merge_key: str) -> dict[Identity, int]:
    places: dict[Identity, int] = {}
    for place, value in enumerate(values):
        places.setdefault(element_identity(value, merge_key), place)
    return places


def _distinct(values: list[Any]) -> list[Any]:
    return list({identity(value): value for value in values}.values())


def _is_directive(element: Any) -> bool:
    if not isinstance(element, dict):
        raise strategic_errors.bad_type(dict, element)
    return DIRECTIVE in element


def _directed(original: list[Map], patch: list[Map], merge_key: str) -> tuple[list[Map], list[Map]]:
    """Both lists after the elements of the patch that are directives."""
    plain = [element for element in patch if DIRECTIVE not in element]
    deleted = set()
    is_replaced = False
    for element in patch:
        if DIRECTIVE not in element:
            continue
        directive = element[DIRECTIVE]
        if directive == DELETE:
            deleted.add(element_identity(element, merge_key))
        elif directive == REPLACE:
            is_replaced = True
        elif directive == MERGE:
            raise StatusError("merging lists cannot yet be specified in the patch")
        else:
            raise strategic_errors.bad_directive(directive, element)
    if is_replaced:
        return plain, []
    return [one for one in original if merge_key not in one or identity(one[merge_key]) not in deleted], plain


def _merged_by_key(original: list[Map], patch: list[Map], rule: Rule, merge_maps: MergeMaps) -> list[Map]:
    result = list(original)
    places = {identity(one.get(rule.merge_key)): place for place, one in reversed(list(enumerate(result)))}
    for element in patch:
        mine = element_identity(element, rule.merge_key)
        if mine in places:
            result[places[mine]] = merge_maps(result[places[mine]], element, rule.node)
        else:
            places[mine] = len(result)
            result.append(element)
    return result
