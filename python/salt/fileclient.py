"""Files of the file server."""


class Client:
    """Calls `cp.*`."""

    def __init__(self, opts=None):
        self.opts = opts

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        return None

    def _cp(self, name, *args, **kwargs):
        from halite_worker import bridge

        return bridge.call("modules", "cp." + name, args, {key: value for key, value in kwargs.items() if value is not None})

    def cache_file(self, path, saltenv="base", **kwargs):
        return self._cp("cache_file", path, saltenv=saltenv)

    def get_file(self, path, dest="", makedirs=False, saltenv="base", **kwargs):
        return self._cp("get_file", path, dest, makedirs=makedirs, saltenv=saltenv)

    def cache_dir(self, path, saltenv="base", **kwargs):
        return self._cp("cache_dir", path, saltenv=saltenv)

    def get_url(self, url, dest, makedirs=False, saltenv="base", **kwargs):
        return self._cp("get_url", url, dest, makedirs=makedirs, saltenv=saltenv)

    def file_list(self, saltenv="base", prefix=""):
        return self._cp("list_master", saltenv=saltenv, prefix=prefix)

    def dir_list(self, saltenv="base", prefix=""):
        return self._cp("list_master_dirs", saltenv=saltenv, prefix=prefix)

    def hash_file(self, path, saltenv="base"):
        return self._cp("hash_file", path, saltenv=saltenv)

    def envs(self):
        return self._cp("envs")


RemoteClient = LocalClient = FSClient = Client


def get_file_client(opts=None, pillar=False):
    return Client(opts)
