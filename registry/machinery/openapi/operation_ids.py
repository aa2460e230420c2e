"""Operation ids: operation ids and tags: `listNamespacedPod` in /api/v1 becomes `listCoreV1NamespacedPod`, tagged
`core_v1`.

Pure. Generated clients use these ids. Must hold: they are kube-apiserver's, letter by letter.
"""

_VERBS = ("get", "log", "read", "replace", "patch", "delete", "watch", "connect", "proxy", "list", "create")


def of(operation: str, path: str) -> tuple[str, list[str]]:
    """The id and the tags of an operation, whose name begins with a verb."""
    verb = next(verb for verb in _VERBS if operation.startswith(verb))
    parts = path.strip("/").split("/")
    if parts[0] == "api":
        parts = ["apis", "core", *parts[1:]]
    if parts[0] != "apis" or len(parts) < 2:
        return verb + camel(operation.removeprefix(verb)), [camel(parts[0], is_first_upper=False)]
    names = [parts[1].removesuffix(".k8s.io"), *parts[2:3]]
    tag = "_".join(camel(name, is_first_upper=False) for name in names)
    return verb + "".join(camel(name) for name in names) + camel(operation.removeprefix(verb)), [tag]


def camel(text: str, *, is_first_upper: bool = True) -> str:
    """The letters and digits of a text; a letter behind another character becomes upper case."""
    written = []
    is_upper = is_first_upper
    for at, letter in enumerate(text):
        if letter.isalpha() or letter == "_" or (at and letter.isdigit()):
            written.append(letter.upper() if is_upper else letter)
            is_upper = False
        else:
            is_upper = True
    return "".join(written)
