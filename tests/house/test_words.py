"""The language of the product: headers that name their module, short sentences, actors with a name, unique class names.

A ledger holds the class names that exist twice, each with its reason. A row that is not needed any more fails, too.
"""

from tests.house import words

CLASS_NAMES = "class_names.txt"


def test_headers_and_comments_are_plain() -> None:
    found = [offence for path in words.files() if (offence := words.offence(path))]

    assert not found, found[0]


def test_a_public_class_name_exists_once() -> None:
    known = {row.partition(":")[0] for row in words.rows(CLASS_NAMES)}

    repeated = {
        name: [str(path) for path in paths]
        for name, paths in words.classes().items()
        if len(paths) > 1 and name not in known
    }

    assert not repeated


def test_repeated_class_names_have_a_reason() -> None:
    for row in words.rows(CLASS_NAMES):
        name, _, reason = row.partition(": ")
        assert name, row
        assert reason, f"a row is `Name: reason`: {row!r}"


def test_class_names_that_have_become_unique_leave_the_ledger() -> None:
    classes = words.classes()

    unique = [name for row in words.rows(CLASS_NAMES) if len(classes.get(name := row.partition(":")[0], ())) < 2]

    assert not unique, f"take these rows out of {CLASS_NAMES}: {unique}"


def test_long_sentences_are_found() -> None:
    [long] = words.sentences(" ".join(["word"] * 30))

    assert len(long.split()) > words.MOST_WORDS


def test_examples_and_tables_are_no_sentences() -> None:
    text = "Parts: one.\n\n    server A   put, compact\n\n>>> 1 + 1\n2\n\nname   a row of a table"

    assert list(words.sentences(text)) == ["one."]


def test_names_are_no_dialect() -> None:
    assert list(words.dialect()) == []
