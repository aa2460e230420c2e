"""Unstructured: the alias for a decoded API object."""

from typing import Any

Object = dict[str, Any]
"""Dicts, lists and scalars, with a `metadata` dict."""
