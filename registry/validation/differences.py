"""Differences of two structs, as kube-apiserver adds them to its errors: a unified diff of their JSON. Pure."""

import difflib
import json
from typing import Any

from registry.validation import field

_CONTEXT = 3


def unified(old: Any, new: Any) -> str:
    """The changed lines with some around them; empty when there are none."""
    before, after = (field.escaped(json.dumps(one, indent=1, ensure_ascii=False)).splitlines() for one in (old, new))
    lines = list(difflib.unified_diff(before, after, n=_CONTEXT, lineterm=""))
    return "".join(f"{line}\n" for line in lines[2:])
