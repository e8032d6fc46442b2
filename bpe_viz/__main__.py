"""Run the command line: `python -m bpe_viz` is `bpe-viz`."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and exit with its status."""
    try:
        from bpe_viz.cli import main as run

        status = run()
    except KeyboardInterrupt:
        # While it was still being imported: from then on the command line says it itself.
        sys.stderr.write("bpe-viz: stopped.\n")
        status = 130
    sys.exit(status)


if __name__ == "__main__":
    main()
