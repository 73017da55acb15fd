"""``python -m tools.replies``: see ``counting``; with ``--typed`` see ``typed``."""

import sys

from tools.replies import counting, typed

sys.exit(typed.main() if "--typed" in sys.argv[1:] else counting.main())
