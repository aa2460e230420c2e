"""Testing: pytest fixtures and real API servers inside the process of a test, with faults, snapshots and a clock.

Its public names are those of aio_apiserver.testing. pytest imports this package wherever it is installed, so the
package itself loads nothing.
"""
