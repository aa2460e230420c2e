"""Pages: the files that a document shows, and the links in it.

A file is a fenced block behind a line with its name in bold:

    **test_it.py**

    ```python
    ...
    ```
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

PROJECT = Path(__file__).parents[2]
DOCUMENTS = (*sorted((PROJECT / "docs").rglob("*.md")), *sorted(PROJECT.glob("*.md")))
TUTORIALS = PROJECT / "docs" / "tutorials"

_FILE = re.compile(r"^\*\*([\w./-]+\.\w+)\*\*\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def files(page: Path) -> Mapping[str, str]:
    """The files that a page shows, by their names."""
    return dict(_FILE.findall(page.read_text()))


def links(page: Path) -> Iterator[str]:
    """Where a page points within the project, as it says it."""
    prose = _FENCED.sub("", page.read_text())
    return (link for link in _LINK.findall(prose) if "://" not in link)


def anchors(page: Path) -> set[str]:
    """The parts of a page that can be pointed at."""
    return {_anchor(heading) for heading in _HEADING.findall(_FENCED.sub("", page.read_text()))}


def _anchor(heading: str) -> str:
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
