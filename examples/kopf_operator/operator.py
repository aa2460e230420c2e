"""An operator with kopf: each Greeting gets its text into its status, and says so in an event."""

from typing import Any

import kopf

GROUP, VERSION, PLURAL = "example.com", "v1", "greetings"


def text_for(who: str) -> str:
    """What a greeting says."""
    return f"Hello, {who}!"


def register(registry: kopf.OperatorRegistry) -> None:
    """Put the handlers into a registry."""

    @kopf.on.resume(GROUP, VERSION, PLURAL, registry=registry)
    @kopf.on.create(GROUP, VERSION, PLURAL, registry=registry)
    @kopf.on.update(GROUP, VERSION, PLURAL, field="spec.who", registry=registry)
    async def greet(spec: kopf.Spec, patch: kopf.Patch, **_: Any) -> None:
        if spec["who"] == "nobody":
            raise kopf.PermanentError("there is nobody to greet")
        patch.status["text"] = text_for(spec["who"])
