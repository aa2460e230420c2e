"""Patterns of clients: what compiling and matching cost, and what is kept."""

import pytest

from aio_apiserver.base.budget import SLICE, Budget, BudgetExceeded, BudgetLimits
from aio_apiserver.registry.machinery.schema.validation import pattern_sizes, patterns
from aio_apiserver.registry.machinery.schema.validation.patterns import KeptPatterns, Pattern

PLENTY = BudgetLimits(steps=10_000_000, bytes_made=0)


@pytest.mark.parametrize(
    ("pattern", "count"),
    [
        ("a", 0),
        ("a?b*c+", 2),
        ("a?" * 10, 10),
        ("[a-z]{0,50}" * 500, 25_000),
        ("((a{0,3}){0,3}){0,3}", 39),
        ("(?:a?b?){10}", 30),
        (r"\Qa?b?\E[?*+][]?]\?[[:alpha:]?]", 0),
        ("a{,5}", 0),
        ("(a|b?)+", 1),
        ("((", 0),
        ("a?)b?(", 2),
        ("a{1000}" * 600 + "?", 1),
        ("(((((a?){1000}){1000}){1000}){1000}){1000}", 1 << 40),
    ],
)
def test_parts_that_may_be_left_out_are_counted(pattern: str, count: int) -> None:
    assert pattern_sizes.measured(pattern).optional == count


@pytest.mark.parametrize("pattern", ["a" * 4097, "[a-z]{0,50}" * 300, r"\pL{1000}"], ids=["long", "optional", "large"])
def test_a_pattern_that_takes_long_to_compile_is_refused_in_the_words_of_go(pattern: str) -> None:
    with pytest.raises(ValueError, match=r"^error parsing regexp: expression too large: "):
        patterns.compiled(pattern, Budget(PLENTY))


def test_a_large_pattern_is_not_compiled_on_the_event_loop() -> None:
    with pytest.raises(BudgetExceeded):
        patterns.compiled(r"^[\pL\pN]{1,61}$", Budget(SLICE))

    assert patterns.matches(r"^[\pL\pN]{1,61}$", "Straße", Budget(PLENTY))
    assert patterns.matches(r"^[\pL\pN]{1,61}$", "Straße", Budget(SLICE)), "it was kept"


def test_a_search_pays_for_the_size_of_the_pattern_and_of_the_text() -> None:
    pattern = "(x?){900}y"
    patterns.compiled(pattern, Budget(PLENTY))

    assert not patterns.matches(pattern, "x" * 10, Budget(SLICE))
    with pytest.raises(BudgetExceeded):
        patterns.matches(pattern, "x" * 10_000, Budget(SLICE))


def test_kept_patterns_have_a_limit_in_bytes() -> None:
    kept = KeptPatterns(limit=100)
    for name in ("a", "b", "a", "c"):
        kept.add(name, Pattern(None, 1), 40)
        kept.get("a")

    assert [name for name in "abc" if kept.get(name) is not None] == ["a", "c"]
    assert len(kept) == 2
