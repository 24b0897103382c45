"""Functions that need a program."""
import functools

from salt.utils import path


def _needs(find, names, said):
    def wrap(function):
        @functools.wraps(function)
        def checked(*args, **kwargs):
            if find(names) is None:
                from salt.exceptions import CommandNotFoundError

                raise CommandNotFoundError(said)
            return function(*args, **kwargs)

        return checked

    return wrap


def which(exe):
    return _needs(path.which, exe, "The '{}' binary was not found in $PATH.".format(exe))


def which_bin(exes):
    return _needs(path.which_bin, exes, "None of provided binaries({}) were found in $PATH.".format(["'{}'".format(exe) for exe in exes]))
