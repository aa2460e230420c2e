from aio_apiserver.registry.base import text_caches
from aio_apiserver.registry.base.text_caches import remember_short


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
    assert text_caches._LONGEST <= 1024
