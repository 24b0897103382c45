"""Encodings of the old days."""
import sys

from .stringutils import to_str as sdecode  # noqa: F401
from .stringutils import to_bytes  # noqa: F401
from .stringutils import to_unicode  # noqa: F401


def get_encodings():
    return [sys.getdefaultencoding(), "utf-8", "latin-1"]


def sdecode_if_string(value):
    return value.decode("utf-8") if isinstance(value, bytes) else value
