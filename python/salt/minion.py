"""A minion, as far as extensions look at it."""


class SMinion:
    def __init__(self, opts=None, *args, **kwargs):
        from halite_worker import bridge, packs

        self.opts = opts or bridge.opts()
        self.functions = packs.SPACES["modules"]
        self.states = packs.SPACES["states"]


MasterMinion = MinionBase = SMinion
