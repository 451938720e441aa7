"""`python -m strandcast`: the command."""

import sys

from strandcast.command import main

if __name__ == "__main__":
    sys.exit(main())
