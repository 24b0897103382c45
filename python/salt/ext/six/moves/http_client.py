"""`six.moves.http_client`."""
from http.client import *  # noqa: F401,F403
