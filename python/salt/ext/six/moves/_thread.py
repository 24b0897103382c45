"""`six.moves._thread`."""
from _thread import *  # noqa: F401,F403
