"""YAML: objects as kube-apiserver writes them, with sorted keys."""

from typing import Any

import yaml

_DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def dump(value: Any) -> bytes:
    """The document of an object."""
    text: str = yaml.dump(value, Dumper=_DUMPER, default_flow_style=False, allow_unicode=True, width=2**20)
    return text.encode()
