"""Transcripts: the steps of a page, and when an output agrees with what the page shows."""

from pathlib import Path

import pytest

from tests.docs import following, pages, transcripts
from tests.docs.following import PageError
from tests.docs.transcripts import ShownFile, Typed

PAGE = """# A page

**greeting.txt**

```text
hello
```

Type this:

    cat greeting.txt        # shows the file
    printf 'one\\n' \\
        'two'

```text
one
```

```python
print("not typed")
```
"""


def page(folder: Path, content: str = PAGE) -> Path:
    path = folder / "page.md"
    path.write_text(content)
    return path


def test_a_page_has_files_and_commands_in_its_order(tmp_path: Path) -> None:
    assert transcripts.steps(page(tmp_path)) == [
        ShownFile("greeting.txt", "hello\n"),
        Typed("cat greeting.txt"),
        Typed("printf 'one\\n' \\\n    'two'", "one\n"),
    ]


async def test_the_follower_accepts_a_page_that_is_true(tmp_path: Path) -> None:
    assert await following.follow(page(tmp_path), tmp_path) == 2


async def test_the_follower_refuses_another_output(tmp_path: Path) -> None:
    wrong = page(tmp_path, PAGE.replace("```text\none\n", "```text\nthree\n"))

    with pytest.raises(PageError, match="the page shows\nthree\n"):
        await following.follow(wrong, tmp_path)


async def test_the_follower_refuses_a_command_that_fails(tmp_path: Path) -> None:
    wrong = page(tmp_path, "Type this:\n\n    cat missing.txt\n")

    with pytest.raises(PageError, match="ended with status 1"):
        await following.follow(wrong, tmp_path)


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("NAME   AGE\nweb    1s", "NAME    AGE\nweb     14s\n"),
        ("pod/web-76f7849545-6b2hm   1/1", "pod/web-58cf7d9b8c-x2x4z 1/1"),
        ("first\n...\nlast", "first\nsecond\nthird\nlast\n"),
    ],
)
def test_ages_and_random_names_may_differ(shown: str, printed: str) -> None:
    assert transcripts.agrees(shown, printed)


@pytest.mark.parametrize(("shown", "printed"), [("web   1/1   1s", "web   0/1   1s"), ("one", "one\ntwo")])
def test_what_differs_otherwise_does_not_agree(shown: str, printed: str) -> None:
    assert not transcripts.agrees(shown, printed)


@pytest.mark.parametrize("name", following.FOLLOWED)
def test_the_followed_pages_have_commands(name: str) -> None:
    assert any(isinstance(step, Typed) for step in transcripts.steps(pages.PROJECT / name))
