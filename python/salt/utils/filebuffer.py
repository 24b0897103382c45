"""Files in pieces."""
from salt.exceptions import SaltException

from .stringutils import to_str


class InvalidFileMode(SaltException):
    """Only reading is possible."""


class BufferedReader:
    """The file in windows of a size, each a piece further than the last."""

    def __init__(self, path, max_in_mem=256 * 1024, chunk_size=32 * 1024, mode="r"):
        from .files import fopen

        if "a" in mode or "w" in mode:
            raise InvalidFileMode("Cannot open file in write or append mode")
        self._handle = fopen(path, mode)
        self._window = max_in_mem
        self._chunk = chunk_size
        self._buffered = None

    @property
    def buffered(self):
        return self._buffered

    def next(self):
        size = self._chunk if self._buffered is not None else self._window // self._chunk * self._chunk
        piece = to_str(self._handle.read(size))
        if not piece:
            self._handle.close()
            raise StopIteration
        self._buffered = piece if self._buffered is None else self._buffered[self._chunk:] + piece
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
