"""Halite's wheel as modules of Python."""
from .._calls import install
from .._lazy import lazy

install()
lazy(__name__)


class WheelClient:
    """Wheel functions from extensions of the master."""

    def __init__(self, opts=None):
        self.opts = opts

    def cmd(self, fun, arg=None, pub_data=None, kwarg=None, print_event=True, full_return=False):
        from halite_worker import packs

        return packs.SPACES["wheel"][fun](*(arg or ()), **(kwarg or {}))

    def call_func(self, fun, **kwargs):
        return self.cmd(fun, kwarg=kwargs)


Wheel = WheelClient
