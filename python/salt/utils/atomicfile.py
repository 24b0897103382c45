"""Files that replace others at once."""
import os
import tempfile


class _AtomicWFile:
    def __init__(self, handle, temporary, name):
        self._handle, self._temporary, self._name = handle, temporary, name

    def __getattr__(self, attribute):
        return getattr(self._handle, attribute)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if kind is None:
            self.close()
        else:
            self._handle.close()
            os.remove(self._temporary)

    def close(self):
        if not self._handle.closed:
            self._handle.close()
            if os.path.exists(self._name):
                os.chmod(self._temporary, os.stat(self._name).st_mode & 0o7777)
            os.replace(self._temporary, self._name)


def atomic_open(filename, mode="w"):
    if mode in ("r", "rb", "r+", "rb+", "a", "ab"):
        raise TypeError("Read or append modes don't work with atomic_open")
    descriptor, temporary = tempfile.mkstemp(prefix=".___atomic_write", dir=os.path.dirname(os.path.abspath(filename)))
    return _AtomicWFile(os.fdopen(descriptor, mode), temporary, filename)


def atomic_rename(source, dest):
    os.replace(source, dest)
