"""Switches of behaviour: those of the configuration."""


class Features:
    def get(self, key, default=None):
        from halite_worker import bridge

        return (bridge.opts().get("features") or {}).get(key, default)


features = Features()


def setup_features(opts):
    """The options are those of the running process."""
