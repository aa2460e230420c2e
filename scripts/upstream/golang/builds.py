"""Builds: whether a Go file is part of kube-apiserver's release builds, by its `//go:build` line and its name.

Releases are built for Linux without tags of their own.
"""

import re

from scripts.upstream.golang import parser
from scripts.upstream.golang.syntax import Binary, Expression, Name, Unary
from scripts.upstream.problems import NotUnderstood

_LINE = re.compile(r"^//go:build (.+)$", re.MULTILINE)
_GO_VERSION = re.compile(r"\bgo1\.\d+\b")
_TRUE = frozenset({"linux", "unix", "amd64", "gc", "cgo", "go1"})
_OTHER_SYSTEM = re.compile(r"_(windows|darwin|freebsd|others|unsupported)\.go$")


def is_built(path: str, source: str) -> bool:
    """Whether a release has the file. Raises NotUnderstood."""
    if _OTHER_SYSTEM.search(path):
        return False
    line = _LINE.search(source, 0, max(source.find("\npackage "), 0))
    return line is None or _holds(path, parser.expression(path, _GO_VERSION.sub("go1", line[1])))


def _holds(path: str, constraint: Expression) -> bool:
    match constraint:
        case Name(text=tag):
            return tag in _TRUE
        case Unary(operator="!", operand=operand):
            return not _holds(path, operand)
        case Binary(operator="&&", left=left, right=right):
            return _holds(path, left) and _holds(path, right)
        case Binary(operator="||", left=left, right=right):
            return _holds(path, left) or _holds(path, right)
    raise NotUnderstood(path, 1, "no build constraint that the reader knows")
