"""docs_hooks: adds the pages at the top of the project (README, ARCHITECTURE ...) to the site that MkDocs builds.

Must hold: a link from any page to another page works in the site. A link to a file of the project that is no page
becomes the file's name.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

PROJECT = Path(__file__).parents[1]
DOCS = PROJECT / "docs"
PAGES: Mapping[str, str] = {
    "README.md": "index.md",
    "ARCHITECTURE.md": "architecture.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "GLOSSARY.md": "glossary.md",
}
"""The pages at the top, and their places in the site."""
_LINK = re.compile(r"\[([^\]]+)\]\(([^)#\s]+)(#[^)\s]*)?\)")
_FENCED = re.compile(r"(^```.*?^```$|^    .*$)", re.MULTILINE | re.DOTALL)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages at the top."""
    for source, place in PAGES.items():
        files.append(File.generated(config, place, content=(PROJECT / source).read_text()))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Let the links of a page lead to pages of the site."""
    place = page.file.src_uri
    source = next((PROJECT / name for name, target in PAGES.items() if target == place), DOCS / place)
    parts = _FENCED.split(markdown)
    parts[::2] = [_LINK.sub(lambda link: _shown(link, source, place), part) for part in parts[::2]]
    return "".join(parts)


def _shown(link: re.Match[str], source: Path, place: str) -> str:
    text, target, anchor = link[1], link[2], link[3] or ""
    if "://" in target:
        return link[0]
    path = Path(os.path.normpath(source.parent / target))
    name = path.relative_to(PROJECT).as_posix()
    page = PAGES.get(name) or (
        path.relative_to(DOCS).as_posix() if path.suffix == ".md" and DOCS in path.parents else ""
    )
    if not page:
        return f"{text} (`{name}`)" if text.strip("`") != name else f"`{name}`"
    return f"[{text}]({os.path.relpath(page, Path(place).parent)}{anchor})"
