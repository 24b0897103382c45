"""Keys of minions, in runners: through the wheel functions of Halite."""


class Key:
    def __init__(self, opts=None, io_loop=None):
        self.opts = opts

    def _wheel(self, function, *args):
        from halite_worker import bridge

        return bridge.call("wheel", "key." + function, args)

    def list_keys(self):
        return self._wheel("list_all")

    all_keys = list_keys

    def name_match(self, match, full=False):
        return self._wheel("name_match", match)

    def list_status(self, match):
        return self._wheel("list", match)

    def accept(self, match=None, **kwargs):
        return self._wheel("accept", match)

    def reject(self, match=None, **kwargs):
        return self._wheel("reject", match)

    def delete_key(self, match=None, **kwargs):
        return self._wheel("delete", match)

    def key_str(self, match):
        return self._wheel("key_str", match)

    def finger(self, match, hash_type=None):
        return self._wheel("finger", match)


def get_key(opts):
    return Key(opts)
