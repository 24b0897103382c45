"""Copies of functions."""
import types


def namespaced_function(function, global_dict, defaults=None, preserve_context=None):
    """A function that finds its global names in another module."""
    names = dict(function.__globals__)
    names.update(global_dict)
    made = types.FunctionType(function.__code__, names, function.__name__, defaults or function.__defaults__,
                              function.__closure__)
    made.__kwdefaults__ = function.__kwdefaults__
    made.__dict__.update(function.__dict__)
    return made


def alias_function(fun, name, doc=None):
    made = types.FunctionType(fun.__code__, fun.__globals__, str(name), fun.__defaults__, fun.__closure__)
    made.__dict__.update(fun.__dict__)
    made.__doc__ = doc or "\nThis function is an alias of ``{}``.\n{}".format(fun.__name__, fun.__doc__ or "")
    return made


def parse_function(text):
    from .args import parse_function as parse

    return parse(text)


def call_function(salt_function, *args, **kwargs):
    return salt_function(*args, **kwargs)
