"""Dependencies: no version that pyproject.toml admits is one that an advisory warns of."""

import tomllib
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[1] / "pyproject.toml"
FIXED_IN = [
    ("aiohttp", "3.13.3", "CVE-2025-53643, CVE-2025-69223"),
    ("cryptography", "46.0.7", "CVE-2024-12797, CVE-2026-26007, CVE-2026-34073, CVE-2026-39892"),
    ("grpcio", "1.65.4", "CVE-2024-7246"),
    ("orjson", "3.11.6", "CVE-2025-67221"),
    ("protobuf", "6.33.5", "CVE-2025-4565, CVE-2026-0994"),
    ("pydantic", "2.4.0", "CVE-2024-3772"),
    ("PyJWT", "2.13.0", "CVE-2026-32597, CVE-2026-48526"),
    ("pynacl", "1.6.2", "CVE-2025-69277"),
]
"""The first version in which all of the advisories are fixed."""


def numbers(version: str) -> tuple[int, ...]:
    found = tuple(map(int, version.split(".")))
    return found + (0,) * (3 - len(found))


@pytest.mark.parametrize(("name", "fixed", "advisories"), FIXED_IN)
def test_the_lower_bound_of_a_dependency_excludes_what_advisories_warn_of(
    name: str, fixed: str, advisories: str
) -> None:
    bounds = tomllib.loads(PROJECT.read_text())["project"]["dependencies"]
    (bound,) = (one.removeprefix(f"{name}>=").partition(",")[0] for one in bounds if one.startswith(f"{name}>="))

    assert numbers(bound) >= numbers(fixed), advisories
