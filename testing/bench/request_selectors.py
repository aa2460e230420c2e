"""request_selectors: the verbs and resources by which tests select API requests, in faults, records and webhooks.

    deployments.apps           the resource, without its subresources
    deployments.apps/status    one subresource
    pods/*                     all subresources of pods
    *.example.com              a pattern of the shell

Must hold: a verb or a resource that no request can have is refused with a suggestion, so that an assertion about it
cannot pass by mistake. Requests for resources that the server does not serve are in the record, and can be selected.
"""

from collections.abc import Callable, Collection, Iterable
from fnmatch import fnmatchcase

from aio_apiserver.apiserver.config.suggestions import did_you_mean
from aio_apiserver.registry.controlplane.served_paths import ServedPaths
from aio_apiserver.testing.bench.fault_kinds import Fault

VERBS = ("get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "proxy")
"""The verbs of requests for resources."""
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
_ALL_VERBS = tuple(dict.fromkeys([*VERBS, *map(str.lower, _METHODS)]))
"""Requests for other paths have their method as verb."""
_STATUSES = tuple(map(str, (0, *range(100, 600))))
_FAULTS = tuple(one.value for one in Fault)
_AFTER_ID = ": "
_BETWEEN_FAULTS = ", "
_FORM = "it is PLURAL.GROUP, as in `pods` or `deployments.apps`, or PLURAL.GROUP/SUBRESOURCE"


def resource_name(group: str, resource: str, subresource: str = "") -> str:
    """The name of a resource: `pods`, `deployments.apps/status`."""
    full = f"{resource}.{group}" if group else resource
    return f"{full}/{subresource}" if subresource else full


def fits_resource(pattern: str, name: str) -> bool:
    """Whether a pattern selects a resource. Without a slash it does not select subresources, and with one it does."""
    resource, _, subresource = name.partition("/")
    wanted, _, wanted_subresource = pattern.partition("/")
    if not name or bool(subresource) != bool(wanted_subresource):
        return False
    return fnmatchcase(resource, wanted) and fnmatchcase(subresource, wanted_subresource)


def check_verbs(patterns: Iterable[str]) -> None:
    """Raise ValueError for a verb that no request has."""
    _check("verb", patterns, _ALL_VERBS, fnmatchcase)


def check_methods(patterns: Iterable[str]) -> None:
    """Raise ValueError for an unknown HTTP method."""
    _check("method", patterns, _METHODS, fnmatchcase)


def check_statuses(patterns: Iterable[str]) -> None:
    """Raise ValueError for a status that no response has. A request without a response has status 0."""
    _check("status", patterns, _STATUSES, fnmatchcase)


def check_faults(patterns: Iterable[str]) -> None:
    """Raise ValueError for a fault that does not exist. A fault is `throttle` or, with its id, `fault-1: throttle`."""
    for pattern in patterns:
        kind = pattern.rpartition(_AFTER_ID)[2]
        if pattern and not any(fnmatchcase(name, kind) for name in _FAULTS):
            known = did_you_mean(kind, _FAULTS) or f"; there are {', '.join(_FAULTS)}, also as `ID: {_FAULTS[0]}`"
            raise ValueError(f"no request has the fault {pattern!r}{known}")


def fits_fault(pattern: str, marks: str) -> bool:
    """Whether a pattern selects a request with these faults. The pattern may leave out their ids."""
    several = marks.split(_BETWEEN_FAULTS)
    return any(
        fnmatchcase(text, pattern) for mark in (marks, *several) for text in (mark, mark.rpartition(_AFTER_ID)[2])
    )


def _check(what: str, patterns: Iterable[str], known: Iterable[str], fits: Callable[[str, str], bool]) -> None:
    for pattern in patterns:
        if not any(fits(name, pattern) for name in known):
            raise ValueError(f"no request has the {what} {pattern!r}{did_you_mean(pattern, known)}")


class ResourceNames:
    """The names of the resources that one server serves, custom resources included."""

    def __init__(self, served: ServedPaths) -> None:
        self._served = served

    @property
    def served(self) -> Collection[str]:
        """All names, each once."""
        return dict.fromkeys(resource_name(group, *path.split("/")) for group, _, path in list(self._served))

    def check(self, patterns: Iterable[str], *, also: Iterable[str] = ()) -> None:
        """Raise ValueError for a pattern that fits neither a served resource nor one of `also`."""
        known = self.served
        for pattern in patterns:
            if not any(fits_resource(pattern, name) for name in (*known, *also)):
                raise ValueError(f"there is no resource {pattern!r}{_suggestion(pattern, known)}")


def _suggestion(pattern: str, known: Collection[str]) -> str:
    """A plural without its group gets its group. Other mistakes get names that look alike."""
    resource, slash, subresource = pattern.partition("/")
    same_plural = [name for name in known if name.partition(".")[0] == resource and "/" not in name]
    if same_plural:
        return f": did you mean {' or '.join(f'{name}{slash}{subresource}' for name in same_plural)}?"
    return did_you_mean(pattern, known) or f": {_FORM}"
