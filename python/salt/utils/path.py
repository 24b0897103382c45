"""Paths and programs."""
import os
import posixpath
import re
from collections.abc import Iterable

from .stringutils import to_str

# Where programs of the system are, also when PATH does not say so.
_SYSTEM = ("/sbin", "/bin", "/usr/sbin", "/usr/bin", "/usr/local/sbin", "/usr/local/bin")


def _is_program(path):
    return os.path.isfile(path) and os.access(path, os.X_OK)


def which(exe=None):
    """The path of a program; None when there is none."""
    if not exe:
        return None
    if _is_program(exe):
        return exe
    folders = os.environ.get("PATH", "").split(os.pathsep)
    for folder in folders + [each for each in _SYSTEM if each not in folders]:
        found = join(os.path.expandvars(folder), exe)
        if _is_program(found):
            return found
    return None


def which_bin(exes):
    """The first of several programs that exists."""
    if not isinstance(exes, Iterable):
        return None
    return next((found for found in map(which, [exes] if isinstance(exes, str) else exes) if found), None)


def join(*parts, **kwargs):
    """Like os.path.join, but an absolute later part does not replace the earlier ones."""
    from .args import clean_kwargs, invalid_kwargs

    kwargs = clean_kwargs(**kwargs)
    paths = posixpath if kwargs.pop("use_posixpath", False) else os.path
    if kwargs:
        invalid_kwargs(kwargs)
    normal = [paths.normpath(to_str(part)) for part in parts]
    return paths.normpath(paths.join(normal[0], *[part.lstrip(os.sep) for part in normal[1:]])) if normal else ""


def islink(path):
    return os.path.islink(path)


def readlink(path):
    return os.readlink(path)


def expand(path):
    return os.path.realpath(os.path.expandvars(os.path.expanduser(path)))


def sanitize_win_path(winpath):
    return re.sub("[<>:|?*]", "_", winpath) if isinstance(winpath, str) else winpath


def os_walk(top, *args, **kwargs):
    from .data import decode

    for found in os.walk(to_str(top), *args, **kwargs):
        yield decode(found, preserve_tuples=True)


def safe_path(path, allow_path=None):
    """Whether a path of Windows is none of its system's folders."""
    root = os.environ.get("SystemRoot", "C:\\Windows")
    denied = (r"[a-z]\:\\$", r"\\$", re.escape(root))
    allowed = [re.escape(each) for each in (allow_path if isinstance(allow_path, list) else [allow_path]) if each]

    def begins(patterns):
        return any(re.match(pattern, path, re.IGNORECASE) for pattern in patterns)

    return not begins(denied) or begins(allowed)


def sanitize(path):
    return path.replace("\0", "").replace("/", "_")


def check_target(path):
    return not os.path.isabs(path) and not posixpath.normpath(path).startswith("..")


def check_or_die(command):
    """Raises when a program is missing."""
    from salt.exceptions import CommandNotFoundError

    if command is None:
        raise CommandNotFoundError("'None' is not a valid command.")
    if not which(command):
        raise CommandNotFoundError("'{}' is not in the path".format(command))
