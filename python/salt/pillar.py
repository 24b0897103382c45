"""The pillar, compiled again."""


class _Pillar:
    def __init__(self, saltenv=None, pillarenv=None, pillar_override=None):
        self._options = {"saltenv": saltenv, "pillarenv": pillarenv, "override": pillar_override}

    def compile_pillar(self, ext=True):
        from halite_worker import bridge

        return bridge.ask("pillar", self._options)


def get_pillar(opts, grains, minion_id, saltenv=None, ext=None, funcs=None, pillar_override=None, pillarenv=None, **kwargs):
    return _Pillar(saltenv, pillarenv, pillar_override)


Pillar = get_pillar
