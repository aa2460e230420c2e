"""`python -m apiserver`: the same as the console command."""

from apiserver.cli import run

run()
