"""Grains and pillars of minions, as the master knows them."""


class MasterPillarUtil:
    """Those that minions last sent or got; nothing is compiled again."""

    def __init__(self, tgt="", tgt_type="glob", saltenv=None, use_cached_grains=True, use_cached_pillar=True,
                 grains_fallback=True, pillar_fallback=True, opts=None, **kwargs):
        self.tgt = tgt
        self.tgt_type = tgt_type
        self.opts = opts

    def _known(self, function):
        from halite_worker import bridge

        return bridge.call("runners", function, kwargs={"tgt": self.tgt, "tgt_type": self.tgt_type}) or {}

    def get_minion_grains(self):
        return self._known("cache.grains")

    def get_minion_pillar(self):
        return self._known("cache.pillar")

    def get_cached_mine_data(self):
        return self._known("cache.mine")
