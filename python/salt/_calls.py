"""`salt.modules.network.interfaces()` is `__salt__['network.interfaces']()`: packages whose modules call Halite."""
import importlib.abc
import importlib.machinery
import sys
import types

# Files of Salt whose functions are called by another name.
VIRTUAL = {
    "cmdmod": "cmd", "aptpkg": "pkg", "yumpkg": "pkg", "zypperpkg": "pkg", "dpkg_lowpkg": "lowpkg", "rpm_lowpkg": "lowpkg",
    "systemd_service": "service", "debian_service": "service", "useradd": "user", "groupadd": "group", "linux_sysctl": "sysctl",
    "linux_shadow": "shadow", "debian_ip": "ip", "rh_ip": "ip", "localemod": "locale", "djangomod": "django",
    "virtualenv_mod": "virtualenv", "systemd": "service", "cp": "cp", "dockermod": "docker", "mod_random": "random",
}
SPACES = {"modules": "modules", "states": "states", "runners": "runners", "wheel": "wheel"}


class CalledModule(types.ModuleType):
    """Its attributes are functions of Halite, or what somebody assigned."""

    def __getattr__(self, name):
        if name.startswith("__"):
            if name in ("__salt__", "__opts__", "__grains__", "__pillar__", "__context__", "__utils__"):
                return _dunder(name)
            raise AttributeError(name)
        space, module = self.__dict__["_space"], self.__dict__["_module"]
        own = LOCAL.get((space, module, name))
        if own is not None:
            return own
        from halite_worker import packs

        for shown in (name, name.rstrip("_")):
            try:
                return packs.SPACES[space]["{}.{}".format(module, shown)]
            except KeyError:
                continue
        if name.startswith("_"):
            raise AttributeError("Halite has no function {}.{}".format(module, name))
        # Grains often collect functions in a table of their own; one that is missing matters when it is called.
        return packs.CoreFunction(space, "{}.{}".format(module, name))


def _dunder(name):
    from halite_worker import bridge, packs

    return {
        "__salt__": packs.SPACES["modules"], "__opts__": bridge.opts(), "__grains__": bridge.grains(),
        "__pillar__": bridge.pillar(), "__context__": bridge.context, "__utils__": packs.UTILS,
    }[name]


def run_all_local(cmd, cwd=None, runas=None, shell="/bin/sh", python_shell=True, env=None, **kwargs):
    """For grains, which need programs before anything else exists."""
    import os
    import shlex
    import subprocess

    whole = dict(os.environ, **{str(key): str(value) for key, value in (env or {}).items()}) if isinstance(env, dict) else None
    words = cmd if isinstance(cmd, list) or python_shell else shlex.split(cmd)
    done = subprocess.run(words, cwd=cwd, env=whole, shell=isinstance(words, str), executable=shell if isinstance(words, str) else None,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    return {
        "pid": 0, "retcode": done.returncode, "stdout": done.stdout.decode("utf-8", "replace").rstrip("\n"),
        "stderr": done.stderr.decode("utf-8", "replace").rstrip("\n"),
    }


def run_local(cmd, **kwargs):
    return run_all_local(cmd, **kwargs)["stdout"]


LOCAL = {
    ("modules", "cmd", "_run_quiet"): run_local,
    ("modules", "cmd", "_run_all_quiet"): run_all_local,
    ("modules", "cmd", "_retcode_quiet"): lambda cmd, **kwargs: run_all_local(cmd, **kwargs)["retcode"],
    ("modules", "cmd", "DEFAULT_SHELL"): "/bin/sh",
}
# Grains are collected before functions can be called: they run programs themselves.
IN_GRAINS = {
    "cmd.run": run_local,
    "cmd.run_stdout": run_local,
    "cmd.run_all": run_all_local,
    "cmd.retcode": lambda cmd, **kwargs: run_all_local(cmd, **kwargs)["retcode"],
    "cmd.shell": run_local,
}


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Makes `salt.modules.<any>` when it is imported."""

    def find_spec(self, fullname, path=None, target=None):
        parts = fullname.split(".")
        if len(parts) == 3 and parts[0] == "salt" and parts[1] in SPACES:
            return importlib.machinery.ModuleSpec(fullname, self)
        return None

    def create_module(self, spec):
        made = CalledModule(spec.name)
        _, space, module = spec.name.split(".")
        made.__dict__.update(_space=SPACES[space], _module=VIRTUAL.get(module, module))
        return made

    def exec_module(self, module):
        """There is nothing to run."""


def install():
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
