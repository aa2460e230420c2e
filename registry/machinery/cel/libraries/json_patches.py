"""JSON patches: the CEL function `jsonpatch.escapeKey`."""

from aio_apiserver.base.budget import Budget
from aio_apiserver.registry.machinery.cel.declarations import functions
from aio_apiserver.registry.machinery.cel.environment import Library
from aio_apiserver.registry.machinery.cel.values import Budgeted


def _escape(budget: Budget, key: str) -> str:
    budget.make(2 * len(key))
    return key.replace("~", "~0").replace("/", "~1")


LIBRARY = Library(
    functions({"jsonpatch.escapeKey": [("string_jsonpatch_escapeKey_string", "(string) -> string")]}),
    {"string_jsonpatch_escapeKey_string": Budgeted(_escape)},
)
