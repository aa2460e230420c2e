"""Patterns of the simulated shell."""

import pytest

from aio_apiserver.base.budget import Budget, BudgetExceeded, BudgetLimits
from aio_apiserver.simulation.containers.patterns import FilePattern


def _budget(steps: int = 1_000) -> Budget:
    return Budget(BudgetLimits(steps=steps, bytes_made=0))


@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [
        ("a.txt", "a.txt", True),
        ("a.txt", "abtxt", False),
        ("*", "", True),
        ("**b*", "aab", True),
        ("*.txt", "a.txt.gz", False),
        ("?b", "ab", True),
        ("?b", "b", False),
        ("[a-c]x", "bx", True),
        ("[!a-c]x", "bx", False),
        ("[^a-c]x", "dx", True),
        ("[]a]", "]", True),
        ("[a", "[a", True),
        ("a*b*c", "aXbXbXc", True),
        ("a*b*c", "aXbXbX", False),
    ],
)
def test_a_pattern_matches_as_in_a_shell(pattern: str, text: str, matches: bool) -> None:
    assert FilePattern(pattern, _budget()).matches(text) == matches


@pytest.mark.parametrize(
    ("pattern", "text"),
    [("*a" * 100 + "b", "a" * 5_000), ("*" + "a" * 100 + "b", "a" * 5_000), ("*[" + "bc" * 200 + "]x", "b" * 500)],
)
def test_each_step_of_a_pattern_is_paid(pattern: str, text: str) -> None:
    with pytest.raises(BudgetExceeded):
        FilePattern(pattern, _budget()).matches(text)
