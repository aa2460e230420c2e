"""Clone: `apiserver clone`, copies the objects of a live cluster into the store of a local server.

It lists through a kubeconfig, and writes the store itself, so that uids and statuses stay. Must hold: Secrets are
copied on request alone, whatever the cluster sends. Nothing is written outside of the store.
"""

import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Any

from aio_apiserver.apiserver.commands import custom_resources, store_filling
from aio_apiserver.apiserver.commands.checks import stored_values
from aio_apiserver.apiserver.commands.cloned_objects import LEFT_OUT, ClonedObjects, ClonedResource
from aio_apiserver.apiserver.commands.cluster_lists import ClusterLists
from aio_apiserver.apiserver.commands.terminal import command_lines, output
from aio_apiserver.apiserver.commands.terminal.command_lines import CommandLine, list_flag, switch, text_flag
from aio_apiserver.apiserver.config.manuals import CommandExample, CommandManual
from aio_apiserver.apiserver.outgoing import clusters
from aio_apiserver.apiserver.outgoing.clusters import Cluster, ClusterFailed
from aio_apiserver.registry.machinery import schema
from aio_apiserver.storage.transfer import opening
from aio_apiserver.storage.transfer.contents import directory_of

_NOT_FOUND = 404
_DEFINITIONS = "customresourcedefinitions.apiextensions.k8s.io"
_SECRETS = "secrets"
_NAMESPACES = "namespaces"
_OF_CLUSTERS = {
    "apiservices.apiregistration.k8s.io": "they name servers of the other cluster",
    "events": "they end soon",
    "leases.coordination.k8s.io": "their holders are in the other cluster",
    "mutatingwebhookconfigurations.admissionregistration.k8s.io": "their webhooks are in the other cluster",
    "validatingwebhookconfigurations.admissionregistration.k8s.io": "their webhooks are in the other cluster",
    _SECRETS: "--secrets copies them",
}
"""Resources that are left out unless they are named, and why."""
_OF_THE_SERVER = frozenset(
    {"services/specs/default/kubernetes", "services/endpoints/default/kubernetes", "endpointslices/default/kubernetes"}
)
"""Objects that every server makes for itself."""
_OWN = (
    text_flag("kubeconfig", "The kubeconfig of the cluster to read; $KUBECONFIG or ~/.kube/config when not given."),
    text_flag("context", "Its context; the current one when it is not given."),
    list_flag("kinds", "The resources to copy, as deployments.apps; all when it is not given."),
    list_flag("namespace", "The namespaces to copy; all when it is not given.", short="n"),
    switch("secrets", "Copy Secrets, too."),
    switch("replace", "Replace the objects of a store that has some already."),
    output.flag(),
)
_HEAD = ("RESOURCE", "OBJECTS", "NOTE")
MANUAL = CommandManual(
    about="Copies the objects of a live cluster into the store of a local server, which must not run on a data "
    "directory. Uids, statuses and managed fields stay. Owner references stay when the owner is copied as well; others "
    "are dropped, because the garbage collector would delete the object. Secrets, events, leases, API services and "
    "webhook configurations are copied when --kinds names them. With --namespace, of the objects without a namespace "
    "those of --kinds are copied, the namespaces, and the definitions of custom resources. Objects of another kind or "
    "namespace than was asked for, and names that are no part of a path, are left out. A clone reads at most 2 GiB.",
    usage=(
        "clone [--kubeconfig FILE] [--context NAME] [--kinds RESOURCE,...] [-n NAMESPACE,...] [--secrets] [--replace] "
        "[-o table|yaml|json] [--data-dir=... | --etcd-servers=...]",
    ),
    flags=_OWN,
    examples=(
        CommandExample("clone --context production --data-dir=copy", "all but Secrets, and objects about the cluster"),
        CommandExample("clone --kinds deployments.apps,configmaps -n shop --data-dir=copy", "chosen objects"),
        CommandExample("clone --secrets --etcd-servers=http://127.0.0.1:2379", "into an empty etcd, with Secrets"),
    ),
)


def run(arguments: Sequence[str]) -> int:
    """Copy the objects. Returns the exit code. Raises UsageError."""
    if command_lines.wants_help(arguments, MANUAL):
        return 0
    line = command_lines.parse_flags("clone", arguments, _OWN)
    command_lines.check_one_source("clone", line, *command_lines.STORE_FLAGS)
    form = output.form_of(line)
    return command_lines.run(lambda: _clone(line, form))


async def _clone(line: CommandLine, form: str) -> int:
    opening.check(line.store)
    config = clusters.chosen(line.text("kubeconfig"), line.text("context"))
    objects = ClonedObjects(schema.builtin(line.settings.minor.text))
    async with clusters.opened(config) as cluster:
        cloning = _Cloning(cluster, objects, line)
        await cloning.run()
    async with AsyncExitStack() as stack:
        transformers = await stored_values.transformers(line, stack)
        store = await objects.store(directory_of(line.settings.etcd_prefix), transformers)
    message = await store_filling.fill(store, line, "clone", replace=line.is_set("replace"))
    output.show(form, head=_HEAD, rows=cloning.rows, document=lambda: cloning.document)
    sys.stderr.write(f"{message}; {store.dropped} owner references dropped\n")
    return 0


class _Cloning:
    """One run through the resources of a cluster."""

    def __init__(self, cluster: Cluster, objects: ClonedObjects, line: CommandLine) -> None:
        self._objects = objects
        self._lists = ClusterLists(cluster, self._leave_out)
        self._named = frozenset(line.texts("kinds")) | (
            frozenset({_SECRETS}) if line.is_set("secrets") else frozenset()
        )
        self._is_selective = bool(line.texts("kinds"))
        self._namespaces = line.texts("namespace")
        self._counts: Counter[str] = Counter()
        self._notes: dict[str, str] = {}

    @property
    def rows(self) -> Sequence[Sequence[str]]:
        names = sorted({*self._counts, *self._notes})
        return [(name, str(self._counts[name]), self._notes.get(name, "")) for name in names]

    @property
    def document(self) -> Any:
        return [{"resource": name, "objects": int(count), "note": note} for name, count, note in self.rows]

    async def run(self) -> None:
        """Copy all that is wanted. Raises ClusterFailed, ValueError."""
        built_in = {resource.name: resource for resource in _built_in()}
        definitions = [item async for item in self._items(built_in[_DEFINITIONS])]
        custom = [self._custom_of(item, built_in.values()) for item in definitions]
        known = [resource for resource in custom if resource is not None]
        self._check_names([*built_in.values(), *known])
        of_definitions = built_in.pop(_DEFINITIONS)
        for resource in filter(self._is_wanted, (*built_in.values(), *known)):
            async for item in self._items(resource):
                self._add(resource, item)
        for item, defined in zip(definitions, custom, strict=True):
            if defined is not None and (self._is_wanted(of_definitions) or self._is_wanted(defined)):
                self._add(of_definitions, item)

    def _check_names(self, resources: Sequence[ClonedResource]) -> None:
        """Raises ValueError for a name in --kinds that no resource has."""
        known = {name for one in resources for name in (one.plural, one.name)}
        if strange := self._named - known:
            raise ValueError(f"--kinds: nothing is called {', '.join(sorted(strange))}")

    def _is_wanted(self, resource: ClonedResource) -> bool:
        if {resource.plural, resource.name} & self._named or resource.name == _NAMESPACES:
            return True
        if self._is_selective:
            return False
        if resource.name in _OF_CLUSTERS:
            self._notes[resource.name] = f"left out: {_OF_CLUSTERS[resource.name]}"
            return False
        return resource.is_namespaced or not self._namespaces or resource.name == _DEFINITIONS

    async def _items(self, resource: ClonedResource) -> AsyncIterator[dict[str, Any]]:
        """The objects of a resource in the chosen namespaces."""
        try:
            for namespace in (self._namespaces if resource.is_namespaced else ()) or ("",):
                async for item in self._lists.items(resource, namespace):
                    if self._is_chosen(resource, item):
                        yield item
        except ClusterFailed as exc:
            if exc.status != _NOT_FOUND:
                raise
            self._notes[resource.name] = f"the cluster does not serve {resource.version}"

    def _is_chosen(self, resource: ClonedResource, item: Mapping[str, Any]) -> bool:
        """Whether a namespace is to be copied; everything else is."""
        return resource.name != _NAMESPACES or not self._namespaces or item["metadata"]["name"] in self._namespaces

    def _custom_of(self, definition: Mapping[str, Any], built_in: Iterable[ClonedResource]) -> ClonedResource | None:
        """The resource that a definition adds; None when it adds none."""
        try:
            return custom_resources.of(definition, built_in)
        except custom_resources.NoDefinition as exc:
            self._notes[_DEFINITIONS] = f"{LEFT_OUT}: {exc}"
            return None

    def _leave_out(self, resource: ClonedResource, why: str) -> None:
        self._notes[resource.name] = f"{LEFT_OUT}: {why}"

    def _add(self, resource: ClonedResource, item: dict[str, Any]) -> None:
        if resource.key(item["metadata"]) in _OF_THE_SERVER:
            return
        problem = self._objects.add(resource, item)
        if problem:
            self._notes[resource.name] = f"{item['metadata']['name']}: {problem}"
        self._counts[resource.name] += not problem.startswith(LEFT_OUT)


def _built_in() -> Iterator[ClonedResource]:
    for kind in stored_values.kinds():
        if kind.stored_as is None and "list" in kind.verbs:
            yield ClonedResource(kind.group, kind.plural, kind.kind, kind.versions[0], kind.place, kind.is_namespaced)
