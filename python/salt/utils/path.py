"""Paths and programs."""
import os
import posixpath
import shutil


def which(exe=None):
    """The path of a program; None when there is none."""
    return shutil.which(exe) if exe else None


def which_bin(exes):
    """The first of several programs that exists."""
    if not isinstance(exes, (list, tuple, set)):
        return None
    for exe in exes:
        found = which(exe)
        if found:
            return found
    return None


def join(*parts, **kwargs):
    """Like os.path.join, but an absolute later part does not replace the earlier ones."""
    if not parts:
        return ""
    rest = [str(part).lstrip("/") for part in parts[1:]]
    return os.path.normpath(os.path.join(str(parts[0]), *rest)) if parts[0] else os.path.join("", *rest)


def islink(path):
    return os.path.islink(path)


def readlink(path):
    return os.readlink(path)


def sanitize_win_path(path):
    return path


def os_walk(top, *args, **kwargs):
    from .stringutils import to_str

    yield from os.walk(to_str(top), *args, **kwargs)


def safe_path(path, allow_path=None):
    """Whether nobody but root can write to any folder above."""
    path = os.path.abspath(path)
    while path != os.path.dirname(path):
        if os.stat(path).st_mode & 0o022:
            return False
        path = os.path.dirname(path)
    return True


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
