"""__main__: `python -m aio_apiserver`, the same as the console command."""

import sys

from aio_apiserver.apiserver.cli import main

sys.exit(main())
