"""Merge: merges an applied configuration into the live value; fields that it does not name stay. Pure.

Must hold: the inputs are not changed. The result may share parts with them.
"""

from collections.abc import Iterator
from typing import Any

from aio_apiserver.registry.machinery.patch.apply.compare import grouped
from aio_apiserver.registry.machinery.patch.apply.shapes import ABSENT, DEDUCED, Lists, Maps, Scalar, Shape


def merged(shape: Shape, live: Any, config: Any) -> Any:
    """The merged value; ABSENT when nothing is left. Raises ShapeError."""
    part = shape.part(live if config is ABSENT else config)
    if isinstance(part, Scalar) or part.is_atomic:
        return live if config is ABSENT else config
    if isinstance(part, Maps):
        before, after = _both(live, config, dict)
        merge: Any = _merged_map
    else:
        before, after = _both(live, config, list)
        merge = _merged_list
    if before or after:
        return merge(part, before, after)
    return live if config is ABSENT else config


def _both(live: Any, config: Any, kind: type[dict[str, Any]] | type[list[Any]]) -> tuple[Any, Any]:
    """Both values, each empty if it is of another kind."""
    return live if isinstance(live, kind) else kind(), config if isinstance(config, kind) else kind()


def _merged_map(part: Maps, live: dict[str, Any], config: dict[str, Any]) -> Any:
    if part.of_scalars:
        return {**live, **config}
    result = {}
    for name in {**live, **config}:
        shape = part.fields.get(name) or part.rest or DEDUCED
        old, new = live.get(name, ABSENT), config.get(name, ABSENT)
        is_scalar = shape.maps is None and shape.lists is None
        one = (old if new is ABSENT else new) if is_scalar else merged(shape, old, new)
        if one is not ABSENT:
            result[name] = one
    return result or ABSENT


def _merged_list(part: Lists, live: list[Any], config: list[Any]) -> Any:
    before, after = grouped(part, live), grouped(part, config)
    names = [part.element(one) for one in live]
    result = []
    for element, place in _in_order(names, list(after), before.keys()):
        if element in after:
            olds = before.get(element, ())
            # Duplicate elements of the live list are not merged, because the right one is not known.
            old = olds[0] if len(olds) == 1 else (None if olds else ABSENT)
            one = merged(part.items, old, after[element][0])
        else:
            one = merged(part.items, live[place], ABSENT)
        if one is not ABSENT:
            result.append(one)
    return result or ABSENT


def _in_order(live: list[str], config: list[str], known: Any) -> Iterator[tuple[str, int]]:
    """Elements and their index in the live list. Shared elements come in the order of the configuration.

    Elements of the live list alone stay before the next shared element. Elements of the configuration alone keep their
    position in it.
    """
    wanted = set(config)
    shared = iter([element for element in config if element in known])
    awaited = next(shared, None)
    done: set[str] = set()
    at_live = at_config = 0
    while at_live < len(live) or at_config < len(config):
        if at_live < len(live) and at_config < len(config):
            element = live[at_live]
            if element == config[at_config]:
                done.add(element)
                yield element, at_live
                at_live, at_config, awaited = at_live + 1, at_config + 1, next(shared, None)
                continue
            if element in wanted and awaited is not None and awaited != element:
                at_live += 1
                continue
        if at_live < len(live):
            element = live[at_live]
            if element not in wanted:
                yield element, at_live
                at_live += 1
                continue
            if element in done:
                at_live += 1
        if at_config < len(config):
            element = config[at_config]
            done.add(element)
            yield element, -1
            at_config += 1
            if awaited == element:
                awaited = next(shared, None)
