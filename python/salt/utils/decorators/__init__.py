"""Decorators of extensions."""
import functools
import inspect
import logging
import shlex
import subprocess

log = logging.getLogger(__name__)
_dependencies = []


class Depends:
    """`@depends('requests')`: without the module the function does not exist, or its fallback does."""

    def __init__(self, *dependencies, **kwargs):
        self.dependencies = dependencies
        self.params = kwargs

    def __call__(self, function):
        # Names that are local where the decorator stands count, too.
        frame = inspect.currentframe().f_back
        _dependencies.append((frame.f_globals.get("__name__"), function.__name__, self.dependencies, self.params, dict(frame.f_locals)))
        return function


depends = Depends


def enforce(module, functions, aliases):
    """Removes functions of a module whose dependencies are missing; called after its import."""
    for home, name, dependencies, params, scope in _dependencies:
        shown = aliases.get(name, name)
        if home != module.__name__ or shown not in functions or all(_fits(module, each, params, scope) for each in dependencies):
            continue
        fallback = params.get("fallback_function")
        if fallback is None:
            del functions[shown]
        else:
            functions[shown] = fallback


def _fits(module, dependency, params, scope):
    if "retcode" in params or "nonzero_retcode" in params:
        return _ends_as_wanted(dependency, params)
    if not isinstance(dependency, str):
        return bool(dependency)
    found = scope.get(dependency) or getattr(module, dependency, None)
    if found and "version" in params:
        from salt.utils.versions import version_cmp

        return version_cmp(getattr(found, "__version__", None), params["version"]) >= 0
    return bool(found)


def _ends_as_wanted(command, params):
    """The dependency is a command, without a shell, that has to end like that."""
    try:
        code = subprocess.call(shlex.split(command), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    except (OSError, ValueError):
        code = -1
    if "retcode" in params:
        return code == params["retcode"]
    return (code != 0) is bool(params["nonzero_retcode"])


def memoize(func):
    """Remembers results by the text of the arguments."""
    cache = {}

    @functools.wraps(func)
    def remembered(*args, **kwargs):
        key = ",".join([str(arg) for arg in args] + ["{}={}".format(name, kwargs[name]) for name in sorted(kwargs)])
        if key not in cache:
            cache[key] = func(*args, **kwargs)
        return cache[key]

    return remembered


def timing(function):
    @functools.wraps(function)
    def timed(*args, **kwargs):
        import time

        from salt.utils.args import clean_kwargs

        start = time.time()
        try:
            return function(*args, **clean_kwargs(**kwargs))
        finally:
            log.log(15, "Function %s took %.3f seconds to execute", function.__name__, time.time() - start)

    return timed


def ensure_unicode_args(function):
    """Texts are Unicode in Python 3."""
    @functools.wraps(function)
    def same(*args, **kwargs):
        return function(*args, **kwargs)

    return same


def ignores_kwargs(*kwarg_names):
    def wrap(function):
        @functools.wraps(function)
        def without(*args, **kwargs):
            return function(*args, **{key: value for key, value in kwargs.items() if key not in kwarg_names})

        return without

    return wrap


def _same(*args, **kwargs):
    """For decorators about the age of a function: it stays what it is."""
    if len(args) == 1 and inspect.isfunction(args[0]) and not kwargs:
        return args[0]
    return lambda function: function


is_deprecated = with_deprecated = deprecated = _same


def allow_one_of(*kwarg_names):
    return _chosen(kwarg_names, "Only of the following is allowed: {}", None)


def require_one_of(*kwarg_names):
    return _chosen(kwarg_names, "Only one of the following is allowed: {}", "One of the following must be provided: {}")


def _chosen(names, too_many, too_few):
    """Counts the arguments of these names that are given and not empty."""
    def wrap(function):
        @functools.wraps(function)
        def checked(*args, **kwargs):
            given = dict(zip(function.__code__.co_varnames, args), **kwargs)
            count = sum(1 for name in names if given.get(name))
            text = too_many if count > 1 else too_few if count == 0 else None
            if text is not None:
                from salt.exceptions import SaltInvocationError

                raise SaltInvocationError(text.format(", ".join(names)))
            return function(*args, **kwargs)

        return checked

    return wrap
