"""Expressions: values, costs and errors of expressions as users write them."""

import traceback
from typing import Any

import pytest

from aio_apiserver.registry.generic.expressions.libraries import BASE
from aio_apiserver.registry.machinery.cel import types
from aio_apiserver.registry.machinery.cel.environment import CelEnvironment
from aio_apiserver.registry.machinery.cel.syntax import Issue
from aio_apiserver.registry.machinery.cel.values import NONE, CostExceeded, EvaluationError, Optional

WIDGET = {
    "a": types.INT,
    "s": types.STRING,
    "l": types.list_of(types.STRING),
    "m": types.map_of(types.STRING, types.INT),
    "when": types.TIMESTAMP,
    "any": types.DYN,
}
SELF = types.object_named("Widget")
ENVIRONMENT = CelEnvironment({"self": SELF, "oldSelf": types.optional_of(SELF)}, {"Widget": WIDGET}, BASE)
VALUE = {"a": 5, "s": "abc", "l": ["x", "yy"], "m": {"k": 1}, "any": {"deep": [1, "two"]}}


def computed(text: str, old: Optional = NONE) -> Any:
    return ENVIRONMENT.compile(text).evaluate({"self": VALUE, "oldSelf": old})[0]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("self.a + 1", 6),
        ("self.a < 5.5", True),
        ("self.l.all(x, x.size() > 1)", False),
        ("self.l.exists_one(x, x == 'yy')", True),
        ("self.l.map(x, x.size())", [1, 2]),
        ("self.l.filter(x, x != 'x')", ["yy"]),
        ("self.m.transformMap(k, v, v + 1)", {"k": 2}),
        ("self.l.all(i, v, i < v.size())", True),
        ("has(self.a) && !has(self.when)", True),
        ("self.when.getHours() == 1 || true", True),
        ("self.any.deep[1] == 'two'", True),
        ("self.?when.hasValue()", False),
        ("oldSelf.?a.orValue(7)", 7),
        ("duration('90m') > duration('1h')", True),
        ("timestamp('2024-02-29T10:00:00Z').getDayOfYear()", 59),
        ("timestamp('2024-02-29T23:30:00Z').getHours('+02:00')", 1),
        ("string(duration('90s'))", "90s"),
        ("-7 / 2", -3),
        ("-7 % 3", -1),
        ("'%s: %.1f %d'.format(['n', 1234.56, 3])", "n: 1,234.6 3"),
        ("'%s'.format([['a', 1.5, {'k': true}]])", '["a", 1.500000, {"k":true}]'),
        ("'a,b,c'.split(',', 2)", ["a", "b,c"]),
        ("[3, 1, 2].sort()", [1, 2, 3]),
        ("['bb', 'a'].sortBy(x, x.size())", ["a", "bb"]),
        ("sets.equivalent([1, 2], [2, 1, 1])", True),
        ("quantity('1Gi').isGreaterThan(quantity('1000Mi'))", True),
        ("quantity('1.5').add(quantity('500m')).asInteger()", 2),
        ("cidr('10.0.0.0/8').containsIP(ip('10.1.2.3'))", True),
        ("ip('::1').family()", 6),
        ("url('https://u@h:8/p?q=1').getHostname()", "h"),
        ("semver('1.2.3-rc.1').isLessThan(semver('v1.2.3', true))", True),
        ("format.dns1123Label().validate('Not').hasValue()", True),
        ("'abcabc'.findAll('b.', 1)", ["bc"]),
        ("type(cidr('::/0')) == net.CIDR", True),
        ("string(timestamp('2024-02-29T23:30:00+02:00') + duration('1h'))", "2024-03-01T00:30:00+02:00"),
        ("timestamp('2024-02-29T23:30:00+02:00').getHours()", 21),
        ("timestamp('2024-02-29T23:30:00+02:00') == timestamp('2024-02-29T21:30:00Z')", True),
        ("optional.ofNonZeroValue(timestamp('0001-01-01T00:00:00Z')).hasValue()", False),
        ("optional.of(1).orValue(1 / 0)", 1),
        ("dyn(null).orValue(1)", None),
        ("dyn(null).?a.hasValue() || has(dyn(null).a)", False),
        ("dyn(1)[?0].hasValue()", False),
        ("dyn(ip('::1')) != 1", True),
    ],
)
def test_an_expression_computes(text: str, value: Any) -> None:
    assert computed(text) == value


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("self.nope", "ERROR: <input>:1:5: undefined field 'nope'\n | self.nope\n | ....^"),
        (
            "self.a > 'x'",
            "ERROR: <input>:1:8: found no matching overload for '_>_' applied to '(int, string)'\n"
            " | self.a > 'x'\n | .......^",
        ),
        (
            "{'a': 'x', 'b': 1, 'c': true}",
            "ERROR: <input>:1:17: expected type 'string' but found 'int'\n"
            " | {'a': 'x', 'b': 1, 'c': true}\n | ................^\n"
            "ERROR: <input>:1:25: expected type 'string' but found 'bool'\n"
            " | {'a': 'x', 'b': 1, 'c': true}\n | ........................^",
        ),
        ("[1, 'a', 'b']", "ERROR: <input>:1:5: expected type 'int' but found 'string'\n | [1, 'a', 'b']\n | ....^"),
        ("[1, 'a']", "ERROR: <input>:1:5: expected type 'int' but found 'string'\n | [1, 'a']\n | ....^"),
        (
            "[[1]].sortBy(x, x)",
            "ERROR: <input>:1:13: found no matching overload for '@sortByAssociatedKeys' applied to "
            "'list(list(int)).(list(list(int)))'\n | [[1]].sortBy(x, x)\n | ............^",
        ),
        (".size()", "ERROR: <input>:1:6: found no matching overload for 'size' applied to '()'\n | .size()\n | .....^"),
        (
            "timestamp(-62135596801)",
            "ERROR: <input>:1:11: invalid timestamp argument\n | timestamp(-62135596801)\n | ..........^",
        ),
        (
            "self.true",
            "ERROR: <input>:1:6: Syntax error: mismatched input 'true' expecting IDENTIFIER\n | self.true\n | .....^",
        ),
        ("has(self)", "ERROR: <input>:1:5: invalid argument to has() macro\n | has(self)\n | ....^"),
        ("[1].map(1, 2)", "ERROR: <input>:1:9: argument is not an identifier\n | [1].map(1, 2)\n | ........^"),
        ("[1].all(1, true)", "ERROR: <input>:1:9: argument must be a simple name\n | [1].all(1, true)\n | ........^"),
        ("'%s'.format([])", "ERROR: <input>:1:12: index 0 out of range\n | '%s'.format([])\n | ...........^"),
        ("'%'.format([])", "ERROR: <input>:1:11: unexpected end of string\n | '%'.format([])\n | ..........^"),
        (
            "'%d'.format([self.s])",
            "ERROR: <input>:1:18: error during formatting: decimal clause can only be used on integers, "
            "was given string\n"
            " | '%d'.format([self.s])\n | .................^",
        ),
        (
            "'%s'.format([1, 2])",
            "ERROR: <input>:1:12: too many arguments supplied to string.format (expected 1, got 2)\n"
            " | '%s'.format([1, 2])\n | ...........^",
        ),
        (
            "'%.f'.format([1.0])",
            "ERROR: <input>:1:13: could not parse formatting clause: error while parsing precision: error while "
            'converting precision to integer: strconv.Atoi: parsing "": invalid syntax\n'
            " | '%.f'.format([1.0])\n | ............^",
        ),
        (
            "self.s.matches('[')",
            "ERROR: <input>:1:16: invalid matches argument\n | self.s.matches('[')\n | ...............^",
        ),
        (
            "x +\ny",
            "ERROR: <input>:1:1: undeclared reference to 'x' (in container '')\n | x +\n | ^\n"
            "ERROR: <input>:2:1: undeclared reference to 'y' (in container '')\n | y\n | ^",
        ),
    ],
)
def test_a_wrong_expression_is_shown_with_its_places(text: str, complaint: str) -> None:
    with pytest.raises(Issue) as found:
        ENVIRONMENT.compile(text)

    assert str(found.value) == complaint


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("self.any.missing", "no such key: missing"),
        ("self.l[5]", "index out of bounds: 5"),
        ("self.a / 0", "division by zero"),
        ("9223372036854775807 + self.a", "integer overflow"),
        ("self.any.deep + 1", "no such overload"),
        ("int(self.s)", "type conversion error from 'string' to 'int'"),
        ("oldSelf.value().a", "optional.none() dereference"),
        ("dyn(null).a", "no such key: a"),
        ("dyn(null)[0]", "no such key: 0"),
        ("dyn([1]).a", "unsupported index type 'string' in list"),
        ("dyn({}) > 1", "no such overload: _>_"),
        ("dyn(1) > dyn('a')", "no such overload"),
        ("!dyn(null)", "no such overload"),
        ("dyn({}).getMonth()", "no such overload: getMonth(map)"),
        ("dyn(null).hasValue()", "no such overload: hasValue(null_type)"),
        ("dyn(null).startsWith('a')", "no such overload"),
        ("dyn('a').all(x, true)", "got 'types.String', expected iterable type"),
        ("dyn(1).all(x, y, true)", "unsupported comprehension range type: types.Int"),
        ("dyn(ip('::1')) == 1", "no such overload"),
        (
            "'%x'.format([dyn(null)])",
            "only integers, byte buffers, and strings can be formatted as hex, was given null_type",
        ),
        ("ip(self.s)", 'ParseAddr("abc"): unable to parse IP'),
    ],
)
def test_what_cannot_be_computed_says_why(text: str, complaint: str) -> None:
    with pytest.raises(EvaluationError) as found:
        computed(text)

    assert str(found.value).endswith(complaint)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("self.s.find(')')", "error parsing regexp: unexpected ): `)`"),
        ("int('a') == 1", "type conversion error from 'string' to 'int'"),
        ("string(dyn({'a': [1]}))", "no such overload: string(map)"),
        ("int(self.s) == 1", ""),
    ],
)
def test_what_is_computed_before_it_runs_says_why_it_cannot(text: str, why: str) -> None:
    assert ENVIRONMENT.compile(text).mistake() == why


def test_one_side_decides_when_the_other_cannot_be_computed() -> None:
    assert computed("self.any.missing == 1 || true") is True
    assert computed("self.any.missing == 1 && false") is False
    assert computed("[1, 2].exists(x, x == 2 || self.any.missing)") is True


def test_a_failure_in_a_long_loop_keeps_no_frames_of_earlier_turns() -> None:
    few, many = (_traceback_of(f"lists.range({count}).all(x, x / 0 == 1)") for count in (2, 1000))

    assert many == few


def _traceback_of(text: str) -> int:
    """The number of frames in the traceback of a failing expression."""
    with pytest.raises(EvaluationError) as found:
        computed(text)
    return len(list(traceback.walk_tb(found.value.__traceback__)))


@pytest.mark.parametrize(
    ("text", "cost"),
    [
        ("1 + 1", 1),
        ("self.a > 1", 3),
        ("self.l", 2),
        ("[1, 2]", 10),
        ("self.s.startsWith('a')", 3),
        ("self.l.all(x, x != '')", 11),
        ("sets.contains(self.l, self.l)", 9),
        ("sets.equivalent(self.l, self.l)", 13),
        ("self.l.reverse()", 15),
        ("self.l.distinct()", 21),
        ("[2, 1].sort()", 29),
        ("[[1], [2]].flatten()", 43),
    ],
)
def test_an_evaluation_counts_its_cost(text: str, cost: int) -> None:
    assert ENVIRONMENT.compile(text).evaluate({"self": VALUE, "oldSelf": NONE})[1] == cost


def test_an_evaluation_that_costs_too_much_is_ended() -> None:
    program = ENVIRONMENT.compile("lists.range(1000).all(x, lists.range(1000).all(y, x * y >= 0))")

    with pytest.raises(CostExceeded, match="actual cost limit exceeded"):
        program.evaluate({"self": VALUE, "oldSelf": NONE})
