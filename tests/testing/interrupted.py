"""A program that starts, uses and stops servers until it is interrupted. It prints a line when it has started."""

import sys

from aio_apiserver.testing import Server
from tests.testing.objects import names


def main() -> None:
    sys.stdout.write("begun\n")
    sys.stdout.flush()
    while True:
        with Server() as server, server.client() as client:
            names(client)


if __name__ == "__main__":
    main()
