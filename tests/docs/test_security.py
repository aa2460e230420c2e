"""The security page names a test for each vulnerability, and the tests exist."""

import ast
import re

import pytest

from tests.docs.pages import PROJECT

PAGE = (PROJECT / "docs" / "security.md").read_text()
NUMBERS = """
2019-11253 2019-11254 2019-1002100 2019-11247 2022-3162 2018-1002105 2018-1002102 2022-3172 2022-3294 2020-8561
2020-8562 2019-11250 2020-8565 2021-25735 2023-2727 2023-2728 2024-3177 2025-4563 2025-5187 2020-8552
2023-44487 2019-11248
""".split()
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)))


@pytest.mark.parametrize("number", NUMBERS)
def test_a_past_vulnerability_has_a_test(number: str) -> None:
    assert re.search(rf"^\| CVE-{number} \|.*\| `tests/[\w/]+\.py::\w+` \|$", PAGE, re.MULTILINE)


@pytest.mark.parametrize(("file", "function"), NAMED)
def test_a_named_test_exists(file: str, function: str) -> None:
    tree = ast.parse((PROJECT / file).read_text())

    assert function in {
        node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    }


def test_the_number_of_ambiguous_requests_is_told() -> None:
    count = (PROJECT / "tests/fuzz/ambiguous_requests.toml").read_text().count("[[request]]")

    assert f"{count} ambiguous requests" in PAGE
