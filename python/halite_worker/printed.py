"""What runners print is output for the operator, in its order before the result."""
import contextlib
import io
import sys

from . import bridge


class _Lines(io.TextIOBase):
    """Hands whole lines to Halite; where nobody reads them they go on to the process's own output."""

    def __init__(self, beyond):
        self._beyond = beyond
        self._rest = ""

    def writable(self):
        return True

    def write(self, text):
        lines, newline, self._rest = (self._rest + text).rpartition("\n")
        if newline:
            self._say(lines)
        return len(text)

    def flush(self):
        # Python flushes whenever it likes: a line is handed over when it is whole.
        self._beyond.flush()

    def end(self):
        rest, self._rest = self._rest, ""
        if rest:
            self._say(rest)

    def _say(self, text):
        if not bridge.channel.own or not bridge.ask("print", text):
            self._beyond.write(text + "\n")


@contextlib.contextmanager
def lines_of(kind):
    """Inside of it `print` of a runner speaks to the operator; other kinds keep the output that they have."""
    if kind != "runners" or isinstance(sys.stdout, _Lines):
        yield
        return
    lines = _Lines(sys.stdout)
    with contextlib.redirect_stdout(lines):
        try:
            yield
        finally:
            lines.end()
