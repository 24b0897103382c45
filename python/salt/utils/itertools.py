"""Iterating."""


def split(orig, sep=None):
    """Like str.split, one part after the other."""
    yield from orig.split(sep)


def read_file(fh_, chunk_size=1048576):
    handle = fh_ if hasattr(fh_, "read") else open(fh_, "rb")
    try:
        for piece in iter(lambda: handle.read(chunk_size), handle.read(0)):
            yield piece
    finally:
        handle.close()


def fnmatch_multiple(candidates, pattern):
    import fnmatch

    return next((name for name in candidates if fnmatch.fnmatch(name, pattern)), None)
