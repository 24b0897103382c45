"""`six.moves.urllib`."""
from . import error, parse, request, response  # noqa: F401
