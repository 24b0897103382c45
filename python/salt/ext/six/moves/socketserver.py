"""`six.moves.socketserver`."""
from socketserver import *  # noqa: F401,F403
