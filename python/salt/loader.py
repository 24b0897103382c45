"""Salt's loaders: the same functions as the names that files get."""


def minion_mods(opts=None, *args, **kwargs):
    from halite_worker import packs

    return packs.SPACES["modules"]


def states(*args, **kwargs):
    from halite_worker import packs

    return packs.SPACES["states"]


def runner(*args, **kwargs):
    from halite_worker import packs

    return packs.SPACES["runners"]


def utils(*args, **kwargs):
    from halite_worker import packs

    return packs.UTILS


def grains(opts=None, *args, **kwargs):
    from halite_worker import bridge

    return dict(bridge.grains())


def serializers(*args, **kwargs):
    from halite_worker import packs

    return packs.Serializers()


raw_mod = minion_mods


def matchers(opts=None, *args, **kwargs):
    """`matchers(opts)['compound_match.match']('web* and G@os:Debian')`."""
    return _Matchers()


class _Matchers(dict):
    """Matches the minion that is concerned: this one, or that whose pillar is compiled."""

    def __missing__(self, name):
        kind, found, rest = name.partition("_match.")
        if not found or rest != "match" or kind == "confirm_top":
            raise KeyError(name)

        def match(tgt, *args, **kwargs):
            from halite_worker import bridge

            return bridge.ask("matches", tgt, kind)

        return match


def render(opts=None, functions=None, *args, **kwargs):
    """Renderers by name: `render['yaml'](text)`."""
    return _Renderers()


class _Renderers(dict):
    def __missing__(self, name):
        def run(text, saltenv="base", sls="", **kwargs):
            from halite_worker import bridge

            source = text.read() if hasattr(text, "read") else text
            return bridge.ask("render", source, name, dict(kwargs.get("context") or {}))

        return run


def loaded_base_name():
    return "salt.loaded"
