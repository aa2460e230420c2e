"""Canaries: secrets that tests plant, to see whether they show where they must not."""

import base64
import secrets
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(slots=True)
class Canaries:
    """What must not show, by where it was planted."""

    planted: dict[str, str] = field(default_factory=dict)

    def text(self, where: str) -> str:
        return self.planted.setdefault(where, f"canary{secrets.token_hex(13)}")

    def encoded(self, where: str) -> str:
        """One in base64, of which neither form may show."""
        text = base64.b64encode(self.text(where).encode()).decode()
        self.planted[f"{where}, encoded"] = text
        return text

    def file(self, path: Path) -> None:
        """The content of a file: of PEM a line in its middle."""
        lines = path.read_text().splitlines()
        self.planted[str(path)] = lines[len(lines) // 2]

    def token(self, where: str) -> str:
        """One of sixteen letters and digits, as bootstrap tokens have them."""
        return self.planted.setdefault(where, secrets.token_hex(8))

    def seen_in(self, text: str) -> list[str]:
        return [where for where, canary in self.planted.items() if canary in text]
