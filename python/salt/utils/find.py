"""Finding files, as `file.find` of Halite does it."""
import os


class Finder:
    """Options are those of `file.find`."""

    def __init__(self, options):
        self._options = {key: value for key, value in options.items() if not key.startswith("_")}

    def find(self, path):
        from halite_worker import bridge

        yield from bridge.call("modules", "file.find", [path], self._options)


def find(path, options):
    return Finder(options).find(path)


def path_depth(path):
    return sum(part not in ("", os.curdir, os.pardir) for part in path.split(os.sep))
