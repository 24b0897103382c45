"""Targets on the master."""


class CkMinions:
    """Which minions a target means."""

    def __init__(self, opts=None):
        self.opts = opts

    def check_minions(self, expr, tgt_type="glob", delimiter=":", greedy=True):
        from halite_worker import bridge

        return {"minions": bridge.ask("match", expr, tgt_type), "missing": [], "ssh_minions": False}


def get_minion_data(minion, opts):
    """Id, grains and pillar of a minion as the master knows them; None for what it does not."""
    from halite_worker import bridge

    def known(function):
        return (bridge.call("runners", function, kwargs={"tgt": minion, "tgt_type": "list"}) or {}).get(minion)

    return minion, known("cache.grains"), known("cache.pillar")
