"""Arguments of functions."""
import inspect
import shlex
from collections import namedtuple

from salt.exceptions import SaltInvocationError

KWARG_REGEX_TEXT = r"^([^\d\W][\w.-]*)=(?!=)(.*)$"
_ArgSpec = namedtuple("ArgSpec", "args varargs keywords defaults")


def clean_kwargs(**kwargs):
    """Without what Salt adds: names that begin with two underscores."""
    return {key: value for key, value in kwargs.items() if not key.startswith("__")}


def invalid_kwargs(invalid, raise_exc=True):
    if not invalid:
        return None
    shown = ["{}={}".format(key, value) for key, value in invalid.items()] if isinstance(invalid, dict) else invalid
    text = "The following keyword arguments are not valid: {}".format(", ".join(shown))
    if raise_exc:
        raise SaltInvocationError(text)
    return text


def shlex_split(text, **kwargs):
    return shlex.split(text, **kwargs) if isinstance(text, str) else text


def split_input(val, mapper=None):
    mapper = mapper or (lambda item: item)
    if isinstance(val, list):
        return [mapper(item) for item in val]
    return [mapper(item.strip()) for item in (val if isinstance(val, str) else str(val)).split(",")]


def get_function_argspec(func, is_class_method=None):
    if not callable(func):
        raise TypeError("{} is not a callable".format(func))
    positional, varargs, keywords, defaults = [], None, None, []
    for parameter in inspect.signature(func).parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            varargs = parameter.name
        elif parameter.kind is parameter.VAR_KEYWORD:
            keywords = parameter.name
        else:
            positional.append(parameter.name)
            if parameter.default is not parameter.empty:
                defaults.append(parameter.default)
    if is_class_method and positional[:1] == ["self"]:
        del positional[0]
    return _ArgSpec(positional, varargs, keywords, tuple(defaults) or None)


def arg_lookup(fun, aspec=None):
    spec = aspec or get_function_argspec(fun)
    defaults = spec.defaults or ()
    plain = spec.args[:len(spec.args) - len(defaults)]
    return {"args": plain, "kwargs": dict(zip(spec.args[len(plain):], defaults))}


def argspec_report(functions, module=""):
    found = {}
    for name in functions:
        if name == module or name.startswith(module + "."):
            spec = get_function_argspec(functions[name])
            found[name] = {
                "args": spec.args, "defaults": spec.defaults,
                "varargs": True if spec.varargs else None, "kwargs": True if spec.keywords else None,
            }
    return found


def parse_kwarg(text):
    import re

    found = re.match(KWARG_REGEX_TEXT, text, re.DOTALL)
    return found.groups() if found else (None, None)


def yamlify_arg(value):
    from .yaml import safe_load

    if not isinstance(value, str) or value.strip() == "" or "#" in value and value.startswith("#"):
        return value
    try:
        found = safe_load(value)
    except Exception:
        return value
    return value if isinstance(found, dict) and "{" not in value or found is None and value != "null" else found


def parse_input(args, condition=True, no_parse=None):
    positional, kwargs = [], {}
    for arg in args:
        name, value = parse_kwarg(arg) if isinstance(arg, str) else (None, None)
        if name:
            kwargs[name] = yamlify_arg(value)
        else:
            positional.append(yamlify_arg(arg))
    if kwargs:
        kwargs["__kwarg__"] = True
        positional.append(kwargs)
    return positional


def condition_input(args, kwargs):
    found = list(args)
    if kwargs:
        found.append(dict(kwargs, __kwarg__=True))
    return found


def format_call(fun, data, initial_ret=None, expected_extra_kws=(), is_class_method=None):
    ret = dict(initial_ret or {}, args=[], kwargs={})
    spec = get_function_argspec(fun, is_class_method)
    needed = len(spec.args) - len(spec.defaults or ())
    for at, name in enumerate(spec.args):
        if at < needed:
            if name not in data:
                raise SaltInvocationError("{} takes at least {} arguments".format(fun.__name__, needed))
            ret["args"].append(data[name])
        elif name in data:
            ret["kwargs"][name] = data[name]
    if spec.keywords:
        known = set(spec.args) | set(expected_extra_kws)
        ret["kwargs"].update({key: value for key, value in data.items() if key not in known})
    return ret


def parse_function(text):
    """`fun(1, a=2)` as name, positional and keyword arguments."""
    name, _, rest = text.partition("(")
    if not rest.endswith(")"):
        return None, None, None
    args, kwargs = [], {}
    for part in [item.strip() for item in rest[:-1].split(",") if item.strip()]:
        key, value = parse_kwarg(part)
        if key:
            kwargs[key] = yamlify_arg(value)
        else:
            args.append(yamlify_arg(part))
    return name.strip(), args, kwargs


def test_mode(**kwargs):
    for key, value in kwargs.items():
        if key.lower() == "test":
            from .data import is_true

            return is_true(value)
    return False
