"""Mutations: texts, JSON values and bytes that are a little wrong. A run with the same seed makes the same ones."""

import json
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

LONG = "9" * 400
_STRUCTURED = 0.7
ODD_TEXTS = (
    *(
        "",
        " ",
        "\x00",
        "\ud7ff",
        "\ufeff",
        "é",
        "A" * 300,
        "a" * 64,
        "-",
        ".",
        "..",
        "../a",
        "/",
        "%",
        "%2f",
        "%zz",
        "*",
    ),
    *("true", "null", "0", "-1", "1.5", "1e999", LONG, "18446744073709551616", "-9223372036854775809", "0x1F", "nan"),
    *(
        "a=b",
        "a in (",
        "!a",
        "a,b",
        "a=b,",
        "a==b,c!=d",
        "metadata.name=a",
        "spec.x=1",
        "\\",
        '"',
        "'",
        "{}",
        "[]",
        "$&",
        "~1",
    ),
    *(
        "2024-01-01T00:00:00Z",
        "2024-13-01T00:00:00Z",
        "1h",
        "-1s",
        "1Ki",
        "1e1000000",
        "10m",
        "100Ei",
        "127.0.0.1",
        "::1",
    ),
    *(
        "application/json",
        "a/b/c",
        "system:masters",
        "kube-system",
        "$patch",
        "$retainKeys",
        "x-kubernetes-int-or-string",
    ),
)
ODD_VALUES: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        0,
        -1,
        1,
        2**31,
        2**63 - 1,
        -(2**63),
        2**63,
        2**64,
        10**30,
        0.5,
        -0.0,
        1e300,
        [],
        {},
        [None],
        {"": None},
    ),
    *({"a": {"a": {"a": {}}}}, [[[[]]]], [{}], {"$patch": "delete"}, {"$patch": "replace"}, {"$retainKeys": ["a"]}),
    *(
        {"$setElementOrder/containers": [{"name": "a"}]},
        {"$deleteFromPrimitiveList/finalizers": ["a"]},
        {"op": "test", "path": "/a"},
    ),
)
ODD_BYTES = (
    b"\x00",
    b"\xff",
    b"\xc3",
    b"\xed\xa0\x80",
    b"\xef\xbb\xbf",
    b"\r\n",
    b"\n",
    b"{",
    b"}",
    b"[",
    b'"',
    b"&a",
    b"*a",
    b"!!binary",
    b"<<: ",
)


def text(random: Random, value: str) -> str:
    """A text near another one, or an odd one."""
    place = random.randint(0, len(value))
    ways: Sequence[Callable[[], str]] = (
        lambda: random.choice(ODD_TEXTS),
        lambda: value[:place] + random.choice(ODD_TEXTS) + value[place:],
        lambda: value[:place] + value[place + 1 :],
        lambda: value * 2,
        lambda: value[:place] + chr(random.randint(1, 0x2FF)) + value[place + 1 :],
        lambda: value.swapcase(),
    )
    return random.choice(ways)()


def data(random: Random, value: bytes) -> bytes:
    """Bytes near other ones."""
    place, length = random.randint(0, len(value)), random.choice((1, 1, 2, 8, 64))
    ways: Sequence[Callable[[], bytes]] = (
        lambda: value[:place] + bytes([random.randrange(256)]) + value[place + 1 :],
        lambda: value[:place] + random.choice(ODD_BYTES) + value[place:],
        lambda: value[:place] + value[place + length :],
        lambda: value[:place] + value[place : place + length] * random.choice((2, 3, 50)) + value[place + length :],
        lambda: value[:place],
        lambda: value[place:] + value[:place],
    )
    return random.choice(ways)()


def near(random: Random, value: bytes) -> bytes:
    """Bytes near other ones; for JSON, most times another document."""
    for _ in range(random.choice((1, 1, 2, 4))):
        try:
            value = (
                dumped(document(random, json.loads(value))) if random.random() < _STRUCTURED else data(random, value)
            )
        except (ValueError, RecursionError):
            value = data(random, value)
    return value


def document(random: Random, value: Any) -> Any:
    """A JSON value that differs in one place from another one."""
    if isinstance(value, dict) and value and random.random() < 0.85:
        return _member(random, value)
    if isinstance(value, list) and value and random.random() < 0.8:
        place = random.randrange(len(value))
        changed = [document(random, value[place])] if random.random() < 0.8 else [value[place]] * 2
        return [*value[:place], *changed, *value[place + 1 :]]
    if isinstance(value, str) and random.random() < 0.6:
        return text(random, value)
    return random.choice((*ODD_VALUES, random.choice(ODD_TEXTS)))


def _member(random: Random, value: dict[str, Any]) -> dict[str, Any]:
    """A map that differs in one member."""
    name = random.choice(list(value))
    way = random.random()
    if way < 0.7:
        return {**value, name: document(random, value[name])}
    rest = {key: one for key, one in value.items() if key != name}
    if way < 0.8:
        return rest
    if way < 0.9:
        return {**rest, text(random, name): value[name]}
    return {**value, random.choice(ODD_TEXTS): random.choice(ODD_VALUES)}


def dumped(value: Any) -> bytes:
    """JSON, with numbers of any size."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")
