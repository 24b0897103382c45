"""Functions that need a program."""
import functools


def _needs(find, names):
    def wrap(function):
        @functools.wraps(function)
        def checked(*args, **kwargs):
            if find(names) is None:
                from salt.exceptions import CommandNotFoundError

                raise CommandNotFoundError("The '{}' binary was not found in $PATH.".format(names))
            return function(*args, **kwargs)

        return checked

    return wrap


def which(exe):
    from salt.utils.path import which as find

    return _needs(find, exe)


def which_bin(exes):
    from salt.utils.path import which_bin as find

    return _needs(find, exes)
