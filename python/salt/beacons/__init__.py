"""Beacons are run by Halite."""
from .._lazy import lazy

lazy(__name__)
