"""``python -m sklearn_textbook`` is the command ``sklearn-textbook``."""

import sys

from sklearn_textbook.cli import main

if __name__ == "__main__":
    sys.exit(main())
