from pathlib import Path

import pytest

from tests.docs import pages


@pytest.mark.parametrize("page", pages.DOCUMENTS, ids=lambda page: page.name)
def test_what_a_document_points_at_is_there(page: Path) -> None:
    missing = []
    for link in pages.links(page):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in pages.anchors(target)):
            missing.append(link)

    assert not missing
