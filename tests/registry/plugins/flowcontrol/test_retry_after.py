from aio_apiserver.registry.plugins.flowcontrol.retry_after import RetryAfter


def test_a_first_rejection_asks_for_a_retry_after_one_second() -> None:
    assert RetryAfter().refused(100) == 1


def test_many_refusals_double_the_time_up_to_half_a_minute() -> None:
    retries = RetryAfter()

    seconds = [max(retries.refused(second) for _ in range(200)) for second in range(100, 300)]

    assert sorted(set(seconds)) == [1, 2, 4, 8, 16, 32]
    assert seconds == sorted(seconds)


def test_few_refusals_shorten_it_again_second_by_second() -> None:
    retries = RetryAfter()
    for second in range(100, 110):
        for _ in range(50):
            retries.refused(second)
    before = retries.seconds

    after = [retries.refused(1000 + 100 * times) for times in range(before)]

    assert before > 2
    assert after == [*range(before - 1, 0, -1), 1]
