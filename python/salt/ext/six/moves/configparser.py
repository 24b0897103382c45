"""`six.moves.configparser`."""
from configparser import *  # noqa: F401,F403
