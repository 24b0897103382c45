"""Large texts and files in pieces."""
import fnmatch
import re


def split(orig, sep=None):
    """The parts of a text between separators, one after the other."""
    start = 0
    for found in re.finditer(r"\s+" if sep is None else re.escape(sep), orig):
        if start < found.start() or sep is not None:
            yield orig[start:found.start()]
        start = found.end()
    if orig[start:]:
        yield orig[start:]


def read_file(fh_, chunk_size=1048576):
    try:
        whole = chunk_size == int(chunk_size)
    except ValueError:
        whole = False
    if not whole:
        raise ValueError("chunk_size must be an integer")
    handle = fh_ if hasattr(fh_, "read") else open(fh_, "rb")
    try:
        while True:
            piece = handle.read(chunk_size)
            if not piece:
                return
            yield piece
    finally:
        handle.close()


def fnmatch_multiple(candidates, pattern):
    """The first candidate that a glob matches."""
    try:
        listed = iter(candidates)
    except TypeError:
        return None
    return next((each for each in listed if isinstance(each, str) and fnmatch.fnmatch(each, pattern)), None)
