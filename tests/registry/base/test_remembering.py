from aio_apiserver.registry.base import remembering
from aio_apiserver.registry.base.remembering import remember_short


def test_a_long_text_is_not_kept() -> None:
    asked = []

    @remember_short(2, longest=3)
    def length(text: str, more: int = 0) -> int:
        asked.append(text)
        return len(text) + more

    found = [length("abc"), length("abc"), length("abcd"), length("abcd"), length("abc", 1)]

    assert found == [3, 3, 4, 4, 4]
    assert asked == ["abc", "abcd", "abcd", "abc"]


def test_caches_of_texts_that_clients_send_are_small_when_full() -> None:
    assert remembering._LONGEST <= 1024
