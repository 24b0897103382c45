"""Grains, as Halite has collected them."""
from .._lazy import lazy

lazy(__name__)
