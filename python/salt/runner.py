"""Runners from extensions of the master."""


class RunnerClient:
    def __init__(self, opts=None):
        self.opts = opts

    def cmd(self, fun, arg=None, pub_data=None, kwarg=None, print_event=True, full_return=False):
        from halite_worker import packs

        return packs.SPACES["runners"][fun](*(arg or ()), **(kwarg or {}))


Runner = RunnerClient
