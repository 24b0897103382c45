"""Small data that outlives a job: files below the cache folder."""
import os

import salt.utils.atomicfile
import salt.utils.json


class Cache:
    def __init__(self, opts=None, cachedir=None, **kwargs):
        self._base = cachedir or (opts or {}).get("cachedir") or "/var/cache/salt/minion"

    def _file(self, bank, key):
        path = os.path.normpath(os.path.join(self._base, "python_cache", bank, "{}.json".format(key)))
        if not path.startswith(os.path.normpath(self._base) + os.sep):
            raise ValueError("{}/{} is not a name in the cache".format(bank, key))
        return path

    def store(self, bank, key, data):
        path = self._file(bank, key)
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with salt.utils.atomicfile.atomic_open(path, "w") as handle:
            salt.utils.json.dump(data, handle)

    def fetch(self, bank, key):
        try:
            with open(self._file(bank, key)) as handle:
                return salt.utils.json.load(handle)
        except FileNotFoundError:
            return {}

    def cache(self, bank, key, fun, loop_fun=None, **kwargs):
        found = self.fetch(bank, key)
        if not found:
            found = [loop_fun(item) for item in fun(**kwargs)] if loop_fun else fun(**kwargs)
            self.store(bank, key, found)
        return found

    def updated(self, bank, key):
        try:
            return int(os.stat(self._file(bank, key)).st_mtime)
        except FileNotFoundError:
            return None

    def flush(self, bank, key=None):
        import shutil

        path = self._file(bank, key) if key is not None else self._file(bank, "x")[:-len("/x.json")]
        shutil.rmtree(path, ignore_errors=True) if key is None else os.path.exists(path) and os.remove(path)

    def list(self, bank):
        try:
            return sorted(name[:-5] for name in os.listdir(os.path.dirname(self._file(bank, "x"))) if name.endswith(".json"))
        except FileNotFoundError:
            return []

    def contains(self, bank, key=None):
        return os.path.exists(self._file(bank, key)) if key is not None else bool(self.list(bank))


MemCache = Cache


def factory(opts, **kwargs):
    return Cache(opts, **kwargs)
