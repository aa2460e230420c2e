"""error_rows: the field errors of schemas and custom resources that are different in some minors.

Pure tables.
"""

import re
from collections.abc import Sequence

from aio_apiserver.registry.base.validation import field
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.error_history import ErrorRow, WarningRow, absent, until

_IN_BODY = re.compile(r"(.*) in body must be of type int(32|64): .*", re.DOTALL)


def _as_number(error: FieldError) -> Sequence[FieldError]:
    """A number beyond the range of its format had no type of its own."""
    name = _IN_BODY.sub(r"\1", error.detail)
    return (field.type_invalid(error.path, "number", f'{name} in body must be of type integer: "number"'),)


ERRORS: Sequence[ErrorRow] = (
    until((1, 36), ".*", absent, detail=r"Checked value must be of type (integer|number) .*"),
    until((1, 36), ".*", _as_number, detail=_IN_BODY.pattern),
)
WARNINGS: Sequence[WarningRow] = ()
