"""``python -m tools.replies``: see ``counting``."""

import sys

from tools.replies.counting import main

sys.exit(main())
