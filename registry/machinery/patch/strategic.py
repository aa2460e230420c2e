"""Strategic merge patch: a merge that knows the type, and directives for what a merge cannot say.

`$patch` replaces or deletes an object or an element, `$retainKeys` names the members that may stay,
`$setElementOrder/<list>` puts a list in order, `$deleteFromPrimitiveList/<list>` takes scalars out of it.

Pure. Must hold: the object is used up, and so is the patch: what it still holds afterwards is what errors show. The
order of the directives (`$patch`, `$retainKeys`, element orders, then the members) is kube-apiserver's.
"""

from typing import Any

from aio_apiserver.registry.base.errors import BadRequest
from aio_apiserver.registry.machinery.patch import strategic_errors, strategic_lists, strategic_rules
from aio_apiserver.registry.machinery.patch.strategic_errors import Map
from aio_apiserver.registry.machinery.patch.strategic_lists import DELETE, DIRECTIVE, REPLACE
from aio_apiserver.registry.machinery.schema.model import Node

_RETAIN_KEYS = "$retainKeys"
_ELEMENT_ORDER = "$setElementOrder"
_DELETE_FROM = "$deleteFromPrimitiveList"


def merged(original: Map, patch: Map, node: Node) -> Map:
    """The object of a type after the patch. Raises BadRequest, Unprocessable and bare StatusErrors."""
    if DIRECTIVE in patch:
        return _directed(patch)
    _retain_keys(original, patch)
    for name in [name for name in patch if name.startswith(_ELEMENT_ORDER)]:
        _set_element_order(original, patch, node, name)
    for name, value in patch.items():
        if name.startswith(_DELETE_FROM):
            _delete_scalars(original, _listed(name, _DELETE_FROM, "primitive list"), value, node)
        else:
            _set_member(original, name, value, node)
    return original


def _directed(patch: Map) -> Map:
    directive = patch[DIRECTIVE]
    if directive == REPLACE:
        del patch[DIRECTIVE]
        return patch
    if directive == DELETE:
        return {}
    raise strategic_errors.bad_directive(directive, patch)


def _retain_keys(original: Map, patch: Map) -> None:
    if _RETAIN_KEYS not in patch:
        return
    names = patch.pop(_RETAIN_KEYS)
    if not isinstance(names, list):
        raise BadRequest("invalid patch format of retainKeys")
    retained = {name for name in names if isinstance(name, str)}
    for name, value in patch.items():
        if value is not None and name not in retained and not name.startswith((_DELETE_FROM, _ELEMENT_ORDER)):
            raise BadRequest("invalid patch format of retainKeys")
    for name in original.keys() - retained:
        del original[name]


def _set_element_order(original: Map, patch: Map, node: Node, directive: str) -> None:
    """Merge the list of the directive, put it in order, and take both out of the patch."""
    order = _as_list(patch.pop(directive))
    name = _listed(directive, _ELEMENT_ORDER, "setElementOrder list")
    present = _as_list(original[name]) if name in original else None
    change = _as_list(patch[name]) if name in patch else None
    rule = strategic_rules.of_list(node, name)
    strategic_lists.check_order(change or [], order, rule.merge_key)
    if present is None and change is None:
        return
    if change is None:
        values = present or []
    elif present is None:
        values = _without_directives(change)
    else:
        values = _merged_list(present, change, rule)
    if strategic_lists.element_type(present or [], change or []) is dict:
        strategic_lists.check_named(values, order, rule.merge_key)
        strategic_lists.check_keys((*values, *order, *(present or ())), rule.merge_key)
    original[name] = strategic_lists.in_order(values, order, present or [], rule.merge_key)
    patch.pop(name, None)


def _listed(directive: str, prefix: str, what: str) -> str:
    """The list that a directive is about."""
    found, slash, name = directive.partition("/")
    if found != prefix or not slash:
        raise BadRequest(f"invalid patch format of {what}")
    return name


def _as_list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise strategic_errors.bad_type(list, value)
    return value


def _delete_scalars(original: Map, name: str, deleted: Any, node: Node) -> None:
    if deleted is None:
        original.pop(name, None)
        return
    present = original.get(name)
    if isinstance(present, list) and isinstance(deleted, list):
        strategic_rules.of_list(node, name)
        original[name] = strategic_lists.without(present, deleted)


def _set_member(original: Map, name: str, value: Any, node: Node) -> None:
    if value is None:
        original.pop(name, None)
        return
    present = original.get(name)
    if isinstance(present, dict) and isinstance(value, dict):
        rule = strategic_rules.of_object(node, name)
        original[name] = value if rule.is_replaced else merged(present, value, rule.node)
    elif isinstance(present, list) and isinstance(value, list):
        original[name] = _merged_list(present, value, strategic_rules.of_list(node, name))
    elif isinstance(value, dict) and DIRECTIVE in value:
        original.pop(name, None)
    else:
        _discard_nulls(value)
        original[name] = _without_directives(value)


def _merged_list(original: list[Any], patch: list[Any], rule: strategic_rules.Rule) -> list[Any]:
    return strategic_lists.merged(original, patch, rule, merge_maps=merged) if rule.is_merged else patch


def _discard_nulls(value: Any) -> None:
    """Take null members out, in place."""
    if isinstance(value, dict):
        for name in [name for name, item in value.items() if item is None]:
            del value[name]
        for item in value.values():
            _discard_nulls(item)
    elif isinstance(value, list):
        for item in value:
            _discard_nulls(item)


def _without_directives(value: Any) -> Any:
    """A new value without the objects that only say what to do with an old one."""
    if isinstance(value, dict):
        return {name: _without_directives(item) for name, item in value.items() if not _is_directive(item)}
    if isinstance(value, list):
        return [_without_directives(item) for item in value if not _is_directive(item)]
    return value


def _is_directive(value: Any) -> bool:
    return isinstance(value, dict) and DIRECTIVE in value
