"""Files that replace others at once."""
import os
import shutil
import tempfile

from .files import get_umask, safe_rm

atomic_rename = os.rename


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
            safe_rm(self._temporary)

    def close(self):
        if self._handle.closed:
            return
        self._handle.flush()
        os.fsync(self._handle.fileno())
        self._handle.close()
        if os.path.isfile(self._name):
            status = os.stat(self._name)
            shutil.copymode(self._name, self._temporary)
            os.chown(self._temporary, status.st_uid, status.st_gid)
        else:
            os.chmod(self._temporary, 0o666 & ~get_umask())
        os.replace(self._temporary, self._name)


def atomic_open(filename, mode="w"):
    if mode in ("r", "rb", "r+", "rb+", "a", "ab"):
        raise TypeError("Read or append modes don't work with atomic_open")
    newline = {} if "b" in mode else {"newline": ""}
    handle = tempfile.NamedTemporaryFile(mode, prefix=".___atomic_write", dir=os.path.dirname(filename), delete=False, **newline)
    return _AtomicWFile(handle, handle.name, filename)
