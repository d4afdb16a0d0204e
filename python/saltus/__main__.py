"""``python -m saltus`` is the program `saltus`."""

import sys

from ._cli import main

sys.exit(main())
