"""authorization_flags: Flags of authorization: modes and their files."""

from pathlib import Path
from typing import Annotated

from aio_apiserver.apiserver.config.flags.flag_fields import AUTHORIZATION, FlagGroup, flag
from aio_apiserver.apiserver.config.flags.setting_types import (
    Duration,
    Strings,
    each_of,
    one_of,
)

AUTHORIZATION_MODES = ("AlwaysAllow", "AlwaysDeny", "ABAC", "Webhook", "RBAC", "Node")

_NO_MODE = '{flag} "{value}" is not a valid mode'


class AuthorizationFlags(FlagGroup):
    """The group Authorization of --help."""

    authorization_config: Path | None = flag(
        AUTHORIZATION,
        None,
        "File with Authorization Configuration to configure the authorizer chain. This flag is mutually exclusive with "
        "the other --authorization-mode and --authorization-webhook-* flags.",
    )
    authorization_policy_file: Path | None = flag(
        AUTHORIZATION,
        None,
        "File with authorization policy in json line by line format, used with --authorization-mode=ABAC, on the "
        "secure port.",
    )
    authorization_webhook_config_file: Path | None = flag(
        AUTHORIZATION,
        None,
        "File with webhook configuration in kubeconfig format, used with --authorization-mode=Webhook. The API server "
        "will query the remote service to determine access on the API server's secure port.",
    )
    authorization_webhook_version: Annotated[str, one_of("v1", "v1beta1")] = flag(
        AUTHORIZATION,
        "v1beta1",
        "The API version of the authorization.k8s.io SubjectAccessReview to send to and expect from the webhook.",
    )
    authorization_webhook_cache_authorized_ttl: Duration = flag(
        AUTHORIZATION, 300.0, "The duration to cache 'authorized' responses from the webhook authorizer."
    )
    authorization_webhook_cache_unauthorized_ttl: Duration = flag(
        AUTHORIZATION, 30.0, "The duration to cache 'unauthorized' responses from the webhook authorizer."
    )
    authorization_mode: Annotated[Strings, each_of(*AUTHORIZATION_MODES, words=_NO_MODE)] = flag(
        AUTHORIZATION,
        ("RBAC",),
        f"Ordered list of plug-ins to do authorization on secure port: {', '.join(AUTHORIZATION_MODES)}.",
    )
