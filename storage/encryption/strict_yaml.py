"""Configuration files in YAML (or JSON): read as kube-apiserver reads its own, strictly.

Must hold: a key that comes twice in a map is an error, not a silent choice; error messages tell the place and never
quote the file, which may hold secrets. PyYAML is loaded with the first file.
"""

from typing import Any


def load(data: bytes) -> Any:
    """The one document in the file. Raises ValueError."""
    import yaml

    from aio_apiserver.storage.encryption.strict_yaml_loader import StrictLoader

    try:
        return yaml.load(data, Loader=StrictLoader)  # noqa: S506 - a SafeLoader
    except yaml.MarkedYAMLError as exc:
        mark = exc.problem_mark or exc.context_mark
        place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        raise ValueError(f"{place}{exc.problem or exc.context}") from None
    except (yaml.YAMLError, RecursionError, ValueError) as exc:
        raise ValueError(f"not a YAML file: {type(exc).__name__}") from None
