"""JSON patches: what expressions that make them need."""

from aio_apiserver.registry.machinery.cel.declarations import functions
from aio_apiserver.registry.machinery.cel.environment import Library


def _escape(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


LIBRARY = Library(
    functions({"jsonpatch.escapeKey": [("string_jsonpatch_escapeKey_string", "(string) -> string")]}),
    {"string_jsonpatch_escapeKey_string": _escape},
)
