"""Declarations: the operators and functions of the language itself, as tables.

Comparisons take any two kinds of numbers. The order of overloads is that in which calls are matched.
"""

from collections.abc import Iterable, Mapping

from aio_apiserver.registry.machinery.cel.types import Function, Overload, Type, overload

Table = Mapping[str, Iterable[tuple[str, str]]]
"""By name of the function: overloads by id, with their signatures."""


def functions(table: Table, named: dict[str, Type] | None = None) -> dict[str, Function]:
    """The functions of a table, by name."""
    return {
        name: Function(name, tuple(overload(identity, signature, named) for identity, signature in overloads))
        for name, overloads in table.items()
    }


def merged(*parts: Mapping[str, Function]) -> dict[str, Function]:
    """Functions of several tables; those of one name have the overloads of all."""
    together: dict[str, list[Overload]] = {}
    for part in parts:
        for name, function in part.items():
            together.setdefault(name, []).extend(function.overloads)
    return {name: Function(name, tuple(overloads)) for name, overloads in together.items()}


_NUMBERS = ("int", "uint", "double")
_ORDERED = ("bool", *_NUMBERS, "string", "bytes", "timestamp", "duration")


def _comparison(word: str) -> list[tuple[str, str]]:
    same = [(f"{word}_{kind}" if kind != "int" else f"{word}_int64", f"({kind}, {kind}) -> bool") for kind in _ORDERED]
    mixed = [
        (f"{word}_{one}_{other}", f"({one}, {other}) -> bool") for one in _NUMBERS for other in _NUMBERS if one != other
    ]
    return same + mixed


_PARTS = ("FullYear", "Month", "DayOfYear", "DayOfMonth", "Date", "DayOfWeek", "Hours", "Minutes", "Seconds")
_OF_DURATIONS = ("Hours", "Minutes", "Seconds", "Milliseconds")


def _part(name: str) -> list[tuple[str, str]]:
    found = []
    if name in _PARTS or name == "Milliseconds":
        found = [
            (f"timestamp_to_{name}", "timestamp.() -> int"),
            (f"timestamp_to_{name}_with_tz", "timestamp.(string) -> int"),
        ]
    if name in _OF_DURATIONS:
        found.append((f"duration_to_{name}", "duration.() -> int"))
    return found


STANDARD: dict[str, Function] = functions(
    {
        "_?_:_": [("conditional", "(bool, A, A) -> A")],
        "_&&_": [("logical_and", "(bool, bool) -> bool")],
        "_||_": [("logical_or", "(bool, bool) -> bool")],
        "!_": [("logical_not", "(bool) -> bool")],
        "@not_strictly_false": [("not_strictly_false", "(bool) -> bool")],
        "_==_": [("equals", "(A, A) -> bool")],
        "_!=_": [("not_equals", "(A, A) -> bool")],
        "_<_": _comparison("less"),
        "_<=_": _comparison("less_equals"),
        "_>_": _comparison("greater"),
        "_>=_": _comparison("greater_equals"),
        "_+_": [
            ("add_bytes", "(bytes, bytes) -> bytes"),
            ("add_double", "(double, double) -> double"),
            ("add_duration_duration", "(duration, duration) -> duration"),
            ("add_duration_timestamp", "(duration, timestamp) -> timestamp"),
            ("add_timestamp_duration", "(timestamp, duration) -> timestamp"),
            ("add_int64", "(int, int) -> int"),
            ("add_list", "(list(A), list(A)) -> list(A)"),
            ("add_string", "(string, string) -> string"),
            ("add_uint64", "(uint, uint) -> uint"),
        ],
        "_-_": [
            ("subtract_double", "(double, double) -> double"),
            ("subtract_duration_duration", "(duration, duration) -> duration"),
            ("subtract_int64", "(int, int) -> int"),
            ("subtract_timestamp_duration", "(timestamp, duration) -> timestamp"),
            ("subtract_timestamp_timestamp", "(timestamp, timestamp) -> duration"),
            ("subtract_uint64", "(uint, uint) -> uint"),
        ],
        "_*_": [
            ("multiply_double", "(double, double) -> double"),
            ("multiply_int64", "(int, int) -> int"),
            ("multiply_uint64", "(uint, uint) -> uint"),
        ],
        "_/_": [
            ("divide_double", "(double, double) -> double"),
            ("divide_int64", "(int, int) -> int"),
            ("divide_uint64", "(uint, uint) -> uint"),
        ],
        "_%_": [("modulo_int64", "(int, int) -> int"), ("modulo_uint64", "(uint, uint) -> uint")],
        "-_": [("negate_double", "(double) -> double"), ("negate_int64", "(int) -> int")],
        "_[_]": [
            ("index_list", "(list(A), int) -> A"),
            ("index_map", "(map(A, B), A) -> B"),
            ("optional_list_index_int", "(optional(list(A)), int) -> optional(A)"),
            ("optional_map_index_value", "(optional(map(A, B)), A) -> optional(B)"),
        ],
        "@in": [("in_list", "(A, list(A)) -> bool"), ("in_map", "(A, map(A, B)) -> bool")],
        "size": [
            ("size_bytes", "(bytes) -> int"),
            ("bytes_size", "bytes.() -> int"),
            ("size_list", "(list(A)) -> int"),
            ("list_size", "list(A).() -> int"),
            ("size_map", "(map(A, B)) -> int"),
            ("map_size", "map(A, B).() -> int"),
            ("size_string", "(string) -> int"),
            ("string_size", "string.() -> int"),
        ],
        "type": [("type", "(A) -> type(A)")],
        "dyn": [("to_dyn", "(A) -> dyn")],
        "bool": [("bool_to_bool", "(bool) -> bool"), ("string_to_bool", "(string) -> bool")],
        "bytes": [("bytes_to_bytes", "(bytes) -> bytes"), ("string_to_bytes", "(string) -> bytes")],
        "double": [(f"{kind}_to_double", f"({kind}) -> double") for kind in ("double", "int", "string", "uint")],
        "int": [
            (f"{kind}_to_int64", f"({kind}) -> int")
            for kind in ("int", "double", "duration", "string", "timestamp", "uint")
        ],
        "uint": [(f"{kind}_to_uint64", f"({kind}) -> uint") for kind in ("uint", "double", "int", "string")],
        "string": [
            (f"{kind}_to_string", f"({kind}) -> string")
            for kind in ("string", "bool", "bytes", "double", "duration", "int", "timestamp", "uint")
        ],
        "timestamp": [(f"{kind}_to_timestamp", f"({kind}) -> timestamp") for kind in ("timestamp", "int", "string")],
        "duration": [(f"{kind}_to_duration", f"({kind}) -> duration") for kind in ("duration", "int", "string")],
        "contains": [("contains_string", "string.(string) -> bool")],
        "endsWith": [("ends_with_string", "string.(string) -> bool")],
        "startsWith": [("starts_with_string", "string.(string) -> bool")],
        "matches": [("matches", "(string, string) -> bool"), ("matches_string", "string.(string) -> bool")],
        **{f"get{name}": _part(name) for name in (*_PARTS, "Milliseconds")},
        # Optional values
        "optional.of": [("optional_of", "(A) -> optional(A)")],
        "optional.ofNonZeroValue": [("optional_ofNonZeroValue", "(A) -> optional(A)")],
        "optional.none": [("optional_none", "() -> optional(A)")],
        "value": [("optional_value", "optional(A).() -> A")],
        "hasValue": [("optional_hasValue", "optional(A).() -> bool")],
        "or": [("optional_or_optional", "optional(A).(optional(A)) -> optional(A)")],
        "orValue": [("optional_orValue_value", "optional(A).(A) -> A")],
        "_[?_]": [
            ("list_optindex_optional_int", "(list(A), int) -> optional(A)"),
            ("optional_list_optindex_optional_int", "(optional(list(A)), int) -> optional(A)"),
            ("map_optindex_optional_value", "(map(A, B), A) -> optional(B)"),
            ("optional_map_optindex_optional_value", "(optional(map(A, B)), A) -> optional(B)"),
        ],
        # What macros of two variables turn into
        "cel.@mapInsert": [
            ("@mapInsert_map_key_value", "(map(A, B), A, B) -> map(A, B)"),
            ("@mapInsert_map_map", "(map(A, B), map(A, B)) -> map(A, B)"),
        ],
    }
)
