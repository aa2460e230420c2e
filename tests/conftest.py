"""What holds for all tests: generated examples are the same in each run, and slow machines do not fail them."""

from hypothesis import settings

settings.register_profile("same-everywhere", derandomize=True, deadline=None)
settings.load_profile("same-everywhere")
