"""`six.moves.queue`."""
from queue import *  # noqa: F401,F403
