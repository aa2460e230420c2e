"""`python -m apiserver`: the same as the console command."""

import sys

from apiserver.cli import main

sys.exit(main())
