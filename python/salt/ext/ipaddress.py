"""The name that old releases gave to the module of Python."""
from ipaddress import *  # noqa: F401, F403
