"""Recording: the picture of README is made of the session that the recorder types."""

from html import escape
from pathlib import Path

from tests.docs import pages, recording
from tests.docs.recording import Entry


def test_the_picture_shows_the_session() -> None:
    shown = recording.PICTURE.read_text()

    assert all(escape(command, quote=False) in shown for command in (recording.SERVER, *recording.SESSION))
    assert "docs/pictures/first-minute.svg" in (pages.PROJECT / "README.md").read_text()


def test_the_picture_escapes_what_a_program_printed() -> None:
    assert "1 &lt; 2" in recording.drawn([Entry("printf '1 < 2'", ["1 < 2"])])


async def test_the_recorder_keeps_commands_with_what_they_printed(tmp_path: Path) -> None:
    (tmp_path / "scripts").mkdir()
    server = tmp_path / "scripts" / "run"
    server.write_text("#!/bin/sh\necho export KUBECONFIG=none\nsleep 60\n")
    server.chmod(0o755)

    entries = await recording.record(tmp_path, tmp_path, session=("echo one; echo two",))

    assert entries[1] == Entry("echo one; echo two", ["one", "two"])
