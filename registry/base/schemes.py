"""Schemes: the Go scheme that decodes an API group, which kube-apiserver names in some messages.

kube-apiserver consists of three servers with a scheme each. schemes.json has the lines of the source that make them,
and is generated (scripts/upstream/tables/schemes.py). Must hold: a group is in one scheme.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import orjson

from aio_apiserver.registry.base import timeline
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.timeline import Version

_FILE = Path(__file__).with_name("schemes.json")
_OF_SERVERS = {"apiextensions.k8s.io": "apiextensions", "apiregistration.k8s.io": "apiregistration"}
_MODULES_SINCE = (1, 36)
"""The minor since which a place has the name of its module."""

CUSTOM_RESOURCES = "custom resources"
DELETE_OPTIONS = "options"
AUDIT_POLICIES = "audit"
WEBHOOK_RESPONSES = "webhooks"
"""Schemes of other things than the objects of a group."""


def of_group(group: str) -> str:
    """The scheme of a group."""
    return _OF_SERVERS.get(group, "kubernetes")


def place_of(scheme: str, version: Version) -> str:
    """The Go file and line of a scheme in a minor."""
    places = _places()[scheme]
    since = max(minor for minor in map(timeline.version_of, places) if minor <= version)
    place = places[timeline.text_of(since)]
    return place if version >= _MODULES_SINCE else place[place.index("pkg/") :]


def not_registered(kind: str, api_version: str, place: str) -> str:
    """The error for a kind that the scheme at a place does not know."""
    return f"no kind {quote(kind)} is registered for version {quote(api_version)} in scheme {quote(place)}"


@cache
def _places() -> Mapping[str, Mapping[str, str]]:
    rows: dict[str, Any] = orjson.loads(_FILE.read_bytes())
    return rows
