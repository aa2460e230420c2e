"""The test bench: real servers in the process of a test, faults on their wire, and their state to go back to.

Its public names are those of aio_apiserver.testing. pytest imports this package wherever it is installed, so the
package itself loads nothing.
"""
