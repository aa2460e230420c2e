"""What the validation of a pod spec may let pass, though it is wrong, and what it is part of.

Rules become stricter with time. What an object broke before a rule came stays allowed while the object does: each
allowance says that the old spec already did so. Pure.
"""

from msgspec import Struct


class PodOptions(Struct, frozen=True, kw_only=True):
    """How strict to be.

    is_pod: the spec is that of a pod, not of a template; allows_privileged: containers may have all rights of the host.
    empties: the paths of what was sent empty, for rules to which empty is more than nothing.
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
