"""The package `salt` of Halite: what users' extensions import from Salt, written anew."""
from ._lazy import lazy

lazy(__name__)
