"""Owner references: the same owner named twice counts once, and the client hears of it.

Pure. Must hold: references that differ in anything are two, even to the same owner.
"""

from collections.abc import Callable
from typing import Any

_ADVICE = (
    "API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; "
    "please fix your requests; duplicate UID(s) observed: "
)


def drop_duplicates(metadata: dict[str, Any], warn: Callable[[str], None], *, is_after_admission: bool) -> None:
    """Take repeated references out, in place."""
    references = metadata.get("ownerReferences") or ()
    if len(references) < 2:
        return
    kept: dict[Any, dict[str, Any]] = {}
    repeated = [one.get("uid", "") for one in references if kept.setdefault(tuple(sorted(one.items())), one) is not one]
    if not repeated:
        return
    metadata["ownerReferences"] = list(kept.values())
    when = " after mutating admission happens" if is_after_admission else ""
    warn(f".metadata.ownerReferences contains duplicate entries{when}; {_ADVICE}{', '.join(repeated)}")
