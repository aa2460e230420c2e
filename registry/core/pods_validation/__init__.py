"""What is wrong with pods and with templates of pods: one file a topic. Pure.

Must hold: the errors, their words and their order are kube-apiserver's.
"""

from registry.core.pods_validation.options import PodOptions, options_for
from registry.core.pods_validation.spec import validate_pod_spec
from registry.core.pods_validation.template import validate_pod_template

__all__ = ["PodOptions", "options_for", "validate_pod_spec", "validate_pod_template"]
