"""Examples: operators with tests that use aio_apiserver.testing. Run them with `pytest examples`."""
