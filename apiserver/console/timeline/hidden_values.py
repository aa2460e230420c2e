"""hidden_values: objects without their secret values, for the timeline and for reports.

Pure. Hidden are the values of Secrets, and texts under names such as `password` or `apiToken`, also in environment
variables and config maps.

Must hold: a given object is not changed. The work is paid for before it is done.
"""

import re
from collections.abc import Mapping
from typing import Any

from aio_apiserver.base.budget import Budget
from aio_apiserver.base.unstructured import Object

HIDDEN = "(hidden)"
OF_SECRETS = frozenset({"data", "stringData"})
"""The fields of a Secret with its values."""
_NAMES = re.compile(
    r"(password|passwd|passphrase|secret|token|credentials?|(api|private|access)[-_.]?key)$", re.IGNORECASE
)
_LONGEST_NAME = 16
"""The letters at the end of a name that tell whether its value is secret."""
_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def without_secrets(obj: Object, budget: Budget, *, is_secret: bool) -> Object:
    """The object with `(hidden)` in the place of each secret value. Raises BudgetExceeded."""
    shown: Object = masked(obj, budget)
    if is_secret:
        for name in OF_SECRETS & shown.keys():
            shown[name] = dict.fromkeys(shown[name], HIDDEN) if isinstance(shown[name], dict) else HIDDEN
    return shown


def masked(value: Any, budget: Budget) -> Any:
    """A copy, without the texts under telling names. Raises BudgetExceeded."""
    if not isinstance(value, dict | list):
        return value
    budget.spend(len(value) + 1)
    if isinstance(value, list):
        return [masked(one, budget) for one in value]
    return {name: HIDDEN if is_hidden(name, value) else masked(one, budget) for name, one in value.items()}


def is_hidden(name: str, holder: Mapping[str, Any]) -> bool:
    """Whether a member of a map is a secret text: by its name, or as the value of an environment variable."""
    value = holder.get(name)
    if not isinstance(value, str) or not value:
        return False
    if name == "value":
        variable = holder.get("name")
        return isinstance(variable, str) and _is_telling(variable)
    return name == _APPLIED or _is_telling(name)


def _is_telling(name: str) -> bool:
    return _NAMES.search(name[-_LONGEST_NAME:]) is not None
