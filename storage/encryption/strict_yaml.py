"""Strict YAML: reads configuration files in YAML or JSON as strictly as kube-apiserver.

Must hold: a duplicate key in a map is an error. Error messages name the line and do not quote the file, which may hold
secrets. PyYAML is imported with the first file.
"""

from typing import Any


def load(data: bytes) -> Any:
    """The single document of the file. Raises ValueError."""
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
