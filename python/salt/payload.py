"""Bytes of messages."""


class Serial:
    def __init__(self, opts=None):
        """Options are not needed."""

    def loads(self, data, encoding=None, raw=False):
        return loads(data)

    def dumps(self, data, use_bin_type=False):
        return dumps(data)


def loads(data, **kwargs):
    import msgpack

    return msgpack.unpackb(data, raw=False)


def dumps(data, **kwargs):
    import msgpack

    return msgpack.packb(data)
