"""Copies and calls of functions."""
import types


def _copy(function, names, name):
    made = types.FunctionType(function.__code__, names, name, function.__defaults__, function.__closure__)
    made.__kwdefaults__ = function.__kwdefaults__
    made.__dict__.update(function.__dict__)
    return made


def namespaced_function(function, global_dict, defaults=None, preserve_context=None):
    """A function that finds its global names in another module, which gets those that it lacks."""
    for key, value in function.__globals__.items():
        global_dict.setdefault(key, value)
    return _copy(function, global_dict, function.__name__)


def alias_function(fun, name, doc=None):
    made = _copy(fun, fun.__globals__, str(name))
    alias = "\nThis function is an alias of ``{}``.\n".format(fun.__name__)
    made.__doc__ = doc if doc and isinstance(doc, str) else alias + (fun.__doc__ or "")
    return made


def parse_function(function_arguments):
    """`[a, {b: 1}]` as `{args: [a], kwargs: {b: 1}}`."""
    kwargs = {}
    for item in function_arguments:
        if isinstance(item, dict):
            kwargs.update(item)
    return {"args": [item for item in function_arguments if not isinstance(item, dict)], "kwargs": kwargs}


def call_function(salt_function, *args, **kwargs):
    """Calls with a mixture of values and maps of named values, as `module.run` has them."""
    from salt.exceptions import SaltInvocationError

    from .args import arg_lookup, get_function_argspec

    spec = get_function_argspec(salt_function)
    known = arg_lookup(salt_function, spec)
    needed, named, by_name = known["args"], dict(known["kwargs"]), {}
    for given in args:
        for key, value in given.items() if isinstance(given, dict) else ():
            (by_name if key in needed else named)[key] = value
    named.update(kwargs)
    positional = [item for item in args if not isinstance(item, dict)] + [by_name[name] for name in needed if name in by_name]
    missing = [name for name in needed[len(positional):] if name not in named]
    if missing:
        raise SaltInvocationError("Missing arguments: {}".format(", ".join(missing)))
    return salt_function(*positional, **named)
