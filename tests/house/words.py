"""Words: reads docstrings, comments and class names of the product, and finds sentences that are not plain.

Pure, but for reading the files. test_words.py says what must hold.
"""

import ast
import io
import re
import tokenize
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from tests.house.sources import FOLDERS
from tests.paths import ROOT

LEDGERS = ROOT / "tests" / "house"
MOST_WORDS = 25
NAMELESS = re.compile(
    r"\b(somebody|nobody|anybody|everybody|someone|whoever|whomever|whom|elsewhere|in vain|is no more)\b",
    re.IGNORECASE,
)
"""Actors and places without a name."""

_NO_NAMES = frozenset({"told", "asked", "said", "heard", "meant", "who", "whom", "whose", "nobody", "somebody"})
"""Names of variables and functions that say neither what they hold nor what they do."""
_NO_FUNCTIONS = _NO_NAMES | {"found", "seen", "shown", "known", "kept", "left", "taken", "wanted", "made", "given"}

_LABEL = re.compile(r"^(Must hold|Pure|Example|[\w ,]{1,30}):\s")
_SENTENCE_END = re.compile(r"(?<=[.!?])[)\"`]?\s+")


def files() -> list[Path]:
    """The Python files of the product, by path from the top."""
    found = (path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
    return sorted(path.relative_to(ROOT) for path in found)


def offence(path: Path) -> str:
    """The first sentence of a file that is not plain, and why; empty when all are."""
    return next(_offences(path), "")


def header(path: Path) -> str:
    """The header of a file; empty without one."""
    return ast.get_docstring(_parsed(path)) or ""


def _offences(path: Path) -> Iterator[str]:
    text = (ROOT / path).read_text()
    header = ast.get_docstring(_parsed(path))
    if header is None:
        yield f"{path}: it has no header"
        return
    name = path.parent.name if path.name == "__init__.py" else path.stem
    if not _begins_with(header, name):
        yield f"{path}: the header does not begin with {name!r}: {header.splitlines()[0]!r}"
    for sentence in sentences(header):
        if len(sentence.split()) > MOST_WORDS:
            yield f"{path}: a sentence of {len(sentence.split())} words, at most {MOST_WORDS}: {sentence!r}"
    for words in (*_docstrings(_parsed(path)), *_comments(text)):
        for sentence in sentences(words):
            if found := NAMELESS.search(sentence):
                yield f"{path}: {found[0]!r} has no name: {sentence!r}"


def _begins_with(header: str, name: str) -> bool:
    """`Key queues: ...`, `key_queues: ...` and `KeyQueues: ...` all begin with the name of key_queues.py."""
    first = re.sub(r"[ -]", "_", header.lower())
    if first.startswith(name.strip("_")):
        return not first[len(name) :][:1].isalnum()
    return first.startswith(name.replace("_", "") + ":")


def sentences(text: str) -> Iterator[str]:
    """The sentences of a docstring. Indented examples, doctests and rows of tables are not sentences."""
    for paragraph in re.split(r"\n\s*\n|\n(?=- )", text):
        lines = paragraph.removeprefix("- ").splitlines()
        if any(line.startswith((" " * 4, "\t", ">>>")) or "   " in line.strip() for line in lines):
            continue
        plain = " ".join(line.strip() for line in lines)
        for sentence in _SENTENCE_END.split(plain):
            while label := _LABEL.match(sentence):
                sentence = sentence[label.end() :]
            yield sentence


def _docstrings(tree: ast.Module) -> Iterator[str]:
    """All docstrings, those under a constant included."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield re.sub(r"\n {4,}", "\n", node.value.value)


def _comments(text: str) -> Iterator[str]:
    """The comments of a file; none, without a slow reading, where no line with a comment could be at fault."""
    if not any("#" in line and NAMELESS.search(line) for line in text.splitlines()):
        return iter(())
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return (token.string.lstrip("# ") for token in tokens if token.type == tokenize.COMMENT)


def classes() -> Mapping[str, list[Path]]:
    """The files that define a public class of each name."""
    found: dict[str, list[Path]] = defaultdict(list)
    for path in files():
        names = {node.name for node in ast.walk(_parsed(path)) if isinstance(node, ast.ClassDef)}
        for name in names:
            if not name.startswith("_"):
                found[name].append(path)
    return found


def dialect() -> Iterator[str]:
    """The places of functions and variables without a telling name."""
    for path in files():
        for node in ast.walk(_parsed(path)):
            name, refused = _named(node)
            if name.strip("_") in refused:
                yield f"{path}:{getattr(node, 'lineno', 0)}: {name}"


def _named(node: ast.AST) -> tuple[str, frozenset[str]]:
    """The name that a node gives, and the names that it must not give."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            return name, _NO_FUNCTIONS
        case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()) | ast.arg(arg=name):
            return name, _NO_NAMES
    return "", frozenset()


def rows(ledger: str) -> list[str]:
    """The rows of a ledger, without comments."""
    lines = (LEDGERS / ledger).read_text().splitlines()
    return [line for line in lines if line.strip() and not line.startswith("#")]


@cache
def _parsed(path: Path) -> ast.Module:
    return ast.parse((ROOT / path).read_text())
