"""Canaries: secrets that tests plant, to find them where they must not appear."""

import base64
import secrets
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(slots=True)
class Canaries:
    """The planted secrets by the place where they were planted."""

    planted: dict[str, str] = field(default_factory=dict)

    def text(self, where: str) -> str:
        return self.planted.setdefault(where, f"canary{secrets.token_hex(13)}")

    def encoded(self, where: str) -> str:
        """A secret in base64. Neither form may appear."""
        text = base64.b64encode(self.text(where).encode()).decode()
        self.planted[f"{where}, encoded"] = text
        return text

    def file(self, path: Path) -> None:
        """The content of a file; for PEM, a line in its middle."""
        lines = path.read_text().splitlines()
        self.planted[str(path)] = lines[len(lines) // 2]

    def token(self, where: str) -> str:
        """A secret of sixteen letters and digits, as in bootstrap tokens."""
        return self.planted.setdefault(where, secrets.token_hex(8))

    def seen_in(self, text: str) -> list[str]:
        return [where for where, canary in self.planted.items() if canary in text]
