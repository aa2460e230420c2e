"""settings_source: the text of testing/server_settings.py, made from the settings.

python -m tests.testing.settings_source > testing/server_settings.py
"""

from pathlib import Path
from typing import Any

from aio_apiserver.apiserver.config.command_line import flags
from aio_apiserver.apiserver.config.flags.flag_types import FlagType
from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.testing.arguments import IGNORED

TARGET = Path(__file__).parents[2] / "testing/server_settings.py"
HEAD = '''"""server_settings: the flags of a test's server by their names in Python, for editors and type checkers.

`python -m tests.testing.settings_source` writes this table. docs/flags.md says what each flag does.
Must hold: it has every setting that takes effect in a test.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypedDict


class ServerSettings(TypedDict, total=False):
    """The settings of a Server. A flag that takes several values also takes a single one."""

'''
TYPES = {bool: "bool", int: "int", float: "float", str: "str"}


def text() -> str:
    kinds = {flag.name.replace("-", "_"): flag.kind for flag in flags()}
    fields = {name: field for name, field in Settings.model_fields.items() if name not in IGNORED}
    lines = [f"    {name}: {_type(field.annotation, kinds[name])}" for name, field in fields.items()]
    return HEAD + "\n".join(lines) + "\n"


def _type(annotation: Any, kind: FlagType) -> str:
    shown = str(annotation)
    if kind is FlagType.DURATION:
        return "float | str"
    if "Path" in shown:
        return "Path | str"
    if shown.startswith("dict"):
        return "Mapping[str, str]"
    return "str | Sequence[str]" if shown.startswith("tuple") else TYPES[annotation]


if __name__ == "__main__":
    print(text(), end="")  # noqa: T201 - this is its output
