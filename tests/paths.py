"""paths: The project's own folders, for tests that read its files wherever they stand in the tree."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
CASSETTES = ROOT / "tests" / "golden" / "cassettes"
