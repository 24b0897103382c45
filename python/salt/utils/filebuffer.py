"""Files in pieces."""


class InvalidFileMode(Exception):
    """Only reading is possible."""


class BufferedReader:
    """The file in windows of a size."""

    def __init__(self, path, max_in_mem=256 * 1024, chunk_size=32 * 1024, mode="r"):
        if "a" in mode or "w" in mode:
            raise InvalidFileMode("Cannot open file in write or append mode")
        self._handle = open(path, mode)
        self._window = max_in_mem
        self._chunk = chunk_size
        self._buffered = None

    @property
    def buffered(self):
        return self._buffered

    def next(self):
        piece = self._handle.read(self._chunk)
        if not piece:
            raise StopIteration
        self._buffered = piece if self._buffered is None else (self._buffered + piece)[-self._window:]
        return self._buffered

    __next__ = next

    def __iter__(self):
        return self

    def close(self):
        self._handle.close()

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        self.close()
