"""`six.moves.builtins`."""
from builtins import *  # noqa: F401,F403
