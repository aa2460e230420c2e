"""Options: how strictly a pod spec is validated, as PodValidationOptions of kube-apiserver.

New releases bring stricter rules. Each allowance means that the old object already breaks such a rule, so its update
may do so too. Pure.
"""

from msgspec import Struct


class PodOptions(Struct, frozen=True, kw_only=True):
    """The validation options of one pod or pod template.

    `is_pod` is false for a template. `allows_privileged` is the flag --allow-privileged. `empties` are the paths of
    fields that the client sent as empty lists or maps.
    """

    is_pod: bool = False
    allows_privileged: bool = False
    empties: frozenset[str] = frozenset()

    allows_any_deletion_cost: bool = False
    allows_any_node_label_value: bool = False
    allows_any_spread_selector: bool = False
    allows_any_token_path: bool = False
    allows_any_value_in_selectors: bool = False
    allows_devices_with_own_users: bool = False
    allows_host_sysctls: bool = False
    allows_odd_huge_pages: bool = False
    allows_restart_of_init_on_resize: bool = False
    allows_selinux_mounts: bool = False
    has_old_spread_keys: bool = False
