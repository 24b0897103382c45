"""Halite's states as modules of Python."""
from .._calls import install
from .._lazy import lazy

install()
lazy(__name__)
