"""Decorators of extensions."""
import functools
import inspect
import logging
import subprocess

log = logging.getLogger(__name__)
_dependencies = []


class Depends:
    """`@depends('requests')`: without the module the function does not exist, or its fallback does."""

    def __init__(self, *dependencies, **kwargs):
        self.dependencies = dependencies
        self.params = kwargs

    def __call__(self, function):
        _dependencies.append((function.__module__, function.__name__, self.dependencies, self.params))
        return function


depends = Depends


def enforce(module, functions, aliases):
    """Removes functions of a module whose dependencies are missing; called after its import."""
    for home, name, dependencies, params in _dependencies:
        shown = aliases.get(name, name)
        if home != module.__name__ or shown not in functions or _fits(module, dependencies, params):
            continue
        fallback = params.get("fallback_function")
        if fallback is None:
            del functions[shown]
        else:
            functions[shown] = fallback


def _fits(module, dependencies, params):
    for dependency in dependencies:
        if isinstance(dependency, str):
            if getattr(module, dependency, None) is None and not _runs(dependency, params):
                return False
        elif not dependency:
            return False
    return True


def _runs(command, params):
    """With `retcode` the dependency is a command that has to end like that."""
    if "retcode" not in params and "nonzero_retcode" not in params:
        return False
    code = subprocess.call(command, shell=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return code != 0 if params.get("nonzero_retcode") else code == params["retcode"]


def memoize(func):
    """Remembers results by the text of the arguments."""
    cache = {}

    @functools.wraps(func)
    def remembered(*args, **kwargs):
        key = (tuple(str(arg) for arg in args), tuple("{}={}".format(name, kwargs[name]) for name in sorted(kwargs)))
        if key not in cache:
            cache[key] = func(*args, **kwargs)
        return cache[key]

    return remembered


def timing(function):
    @functools.wraps(function)
    def timed(*args, **kwargs):
        import time

        start = time.time()
        try:
            return function(*args, **kwargs)
        finally:
            log.log(15, "Function %s took %.3f seconds to execute", function.__name__, time.time() - start)

    return timed


def ensure_unicode_args(function):
    @functools.wraps(function)
    def decoded(*args, **kwargs):
        from salt.utils.data import decode

        return function(*decode(list(args)), **decode(kwargs))

    return decoded


def _same(*args, **kwargs):
    """For decorators about the age of a function: it stays what it is."""
    if len(args) == 1 and inspect.isfunction(args[0]) and not kwargs:
        return args[0]
    return lambda function: function


is_deprecated = with_deprecated = deprecated = _same


def allow_one_of(*allowed):
    return _chosen(allowed, False)


def require_one_of(*required):
    return _chosen(required, True)


def _chosen(names, needed):
    def wrap(function):
        @functools.wraps(function)
        def checked(*args, **kwargs):
            given = inspect.signature(function).bind_partial(*args, **kwargs).arguments
            count = sum(1 for name in names if name in given or name in kwargs)
            from salt.exceptions import SaltInvocationError

            if count > 1:
                raise SaltInvocationError("Only one of the following is allowed: {}".format(", ".join(names)))
            if needed and count == 0:
                raise SaltInvocationError("One of the following is required: {}".format(", ".join(names)))
            return function(*args, **kwargs)

        return checked

    return wrap
