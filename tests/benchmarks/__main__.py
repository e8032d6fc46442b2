"""python -m tests.benchmarks [FILE] [--only SUBJECTS] [--quick] [--json OUT]."""

import sys

from tests.benchmarks.entry import main

sys.exit(main())
