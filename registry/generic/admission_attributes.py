"""Admission attributes: what admission sees of a request: its user, options, warnings, audit annotations and deadline.

Must hold: the generic Store, reviews and token requests hand the same facts of a request to admission.
"""

from collections.abc import Sequence

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.names import GroupResource, GroupVersionKind
from aio_apiserver.registry.generic.admission.form import AdmissionForm
from aio_apiserver.registry.generic.admission.interface import Attributes, Operation
from aio_apiserver.registry.generic.options import CreateOptions, DeleteOptions, UpdateOptions
from aio_apiserver.registry.generic.rest import Request


def attributes_of(
    request: Request,
    operation: Operation,
    options: CreateOptions | UpdateOptions | DeleteOptions,
    *,
    resource: GroupResource,
    kind: GroupVersionKind,
    name: str,
    subresource: str = "",
    obj: Object | None = None,
    old: Object | None = None,
    forms: Sequence[AdmissionForm] = (),
) -> Attributes:
    """The attributes of a write for admission."""
    return Attributes(
        operation=operation,
        resource=resource,
        version=request.version,
        kind=kind,
        subresource=subresource,
        namespace=request.namespace,
        name=name,
        obj=obj,
        old=old,
        options=options,
        is_dry_run=options.is_dry_run,
        user=request.user,
        warn=request.warn,
        annotate=request.annotate,
        note_step=request.note_step,
        forms=forms,
        deadline=request.deadline,
        empties=request.empties,
    )
