"""Validation: the field errors of pods and pod templates, one file for each topic. Pure.

    spec.py        the whole spec, in order; templates.py and pod.py add the rest
    containers.py  names, images, ports; environment.py, mounts.py, probes.py, resources.py, restarts.py
    volumes.py     one source for each volume; volume_sources.py, projected.py, claims.py: the rules of the sources
    security.py    security contexts; windows.py: the operating system
    affinity.py, scheduling.py, network.py, annotations.py
    options.py     how strict to be; allowances.py: violations of newer rules that an old pod may keep
    updates.py, status.py, resizing.py, ephemeral_containers.py: changes

A file is imported when the first pod needs it. Must hold: the errors, their words and their order are kube-apiserver's.
"""

from typing import TYPE_CHECKING

from aio_apiserver.registry.base.deferred import Deferred

if TYPE_CHECKING:
    from aio_apiserver.registry.groups.core.pods.validation import (
        affinity,
        allowances,
        annotations,
        claims,
        ephemeral_containers,
        options,
        pod,
        resizing,
        resources,
        rules,
        scheduling,
        status,
        templates,
        updates,
        volume_sources,
    )
else:
    affinity = Deferred("aio_apiserver.registry.groups.core.pods.validation.affinity")
    allowances = Deferred("aio_apiserver.registry.groups.core.pods.validation.allowances")
    annotations = Deferred("aio_apiserver.registry.groups.core.pods.validation.annotations")
    claims = Deferred("aio_apiserver.registry.groups.core.pods.validation.claims")
    ephemeral_containers = Deferred("aio_apiserver.registry.groups.core.pods.validation.ephemeral_containers")
    options = Deferred("aio_apiserver.registry.groups.core.pods.validation.options")
    pod = Deferred("aio_apiserver.registry.groups.core.pods.validation.pod")
    resizing = Deferred("aio_apiserver.registry.groups.core.pods.validation.resizing")
    resources = Deferred("aio_apiserver.registry.groups.core.pods.validation.resources")
    rules = Deferred("aio_apiserver.registry.groups.core.pods.validation.rules")
    scheduling = Deferred("aio_apiserver.registry.groups.core.pods.validation.scheduling")
    status = Deferred("aio_apiserver.registry.groups.core.pods.validation.status")
    templates = Deferred("aio_apiserver.registry.groups.core.pods.validation.templates")
    updates = Deferred("aio_apiserver.registry.groups.core.pods.validation.updates")
    volume_sources = Deferred("aio_apiserver.registry.groups.core.pods.validation.volume_sources")

__all__ = [
    "affinity",
    "allowances",
    "annotations",
    "claims",
    "ephemeral_containers",
    "options",
    "pod",
    "resizing",
    "resources",
    "rules",
    "scheduling",
    "status",
    "templates",
    "updates",
    "volume_sources",
]
