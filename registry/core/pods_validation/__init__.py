"""What is wrong with pods and with templates of pods: one file a topic. Pure.

    spec.py          the whole spec, in order; template.py, pod.py: what comes on top
    containers.py    names, images, ports; environment.py, mounts.py, probes.py, resources.py, restarts.py
    volumes.py       one source each; volume_sources.py, projected.py, claims.py: what a source may say
    security.py      security contexts; windows.py: the operating system
    affinity.py, scheduling.py, network.py, annotations.py
    options.py       how strict to be; allowances.py: what an old pod may go on doing wrong
    updates.py, status.py, resizing.py, ephemeral_containers.py: what may change

Must hold: the errors, their words and their order are kube-apiserver's.
"""

from registry.core.pods_validation.allowances import options_for
from registry.core.pods_validation.options import PodOptions
from registry.core.pods_validation.spec import validate_pod_spec
from registry.core.pods_validation.template import validate_pod_template

__all__ = ["PodOptions", "options_for", "validate_pod_spec", "validate_pod_template"]
