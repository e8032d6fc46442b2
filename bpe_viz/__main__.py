"""Run the command line: `python -m bpe_viz` is `bpe-viz`."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and exit with its status."""
    from bpe_viz.cli import main as run

    sys.exit(run())


if __name__ == "__main__":
    main()
