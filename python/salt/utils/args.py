"""Arguments of functions."""
import inspect
import re
import shlex
from collections import namedtuple

from salt.exceptions import SaltInvocationError

KWARG_REGEX = re.compile(r"^([^\d\W][\w.-]*)=(?!=)(.*)$")
_ArgSpec = namedtuple("ArgSpec", "args varargs keywords defaults")
_CLOSED_BY = {"[": "]", "{": "}", "(": ")"}


def clean_kwargs(**kwargs):
    """Without what Salt adds: names that begin with two underscores."""
    return {key: value for key, value in kwargs.items() if not key.startswith("__")}


def invalid_kwargs(invalid_kwargs, raise_exc=True):
    named = isinstance(invalid_kwargs, dict)
    shown = ["{}={}".format(key, value) for key, value in invalid_kwargs.items()] if named else invalid_kwargs
    text = "The following keyword arguments are not valid: {}".format(", ".join(shown))
    if raise_exc:
        raise SaltInvocationError(text)
    return text


def condition_input(args, kwargs):
    """Both in one list; numbers that are job ids become texts."""
    from .jid import is_jid

    found = [str(arg) if isinstance(arg, int) and is_jid(str(arg)) else arg for arg in args]
    return found + [dict(kwargs, __kwarg__=True)] if isinstance(kwargs, dict) and kwargs else found


def parse_input(args, condition=True, no_parse=None):
    """Arguments of a command line, `name=value` among them."""
    positional, kwargs = [], {}
    for arg in args:
        name, value = parse_kwarg(arg) if isinstance(arg, str) else (None, None)
        if name:
            kwargs[name] = value if name in (no_parse or ()) else yamlify_arg(value)
        elif isinstance(arg, dict) and arg.get("__kwarg__") is True:
            kwargs.update((key, item) for key, item in arg.items() if key != "__kwarg__")
        else:
            positional.append(yamlify_arg(arg))
    return condition_input(positional, kwargs) if condition else (positional, kwargs)


def parse_kwarg(string_):
    found = KWARG_REGEX.match(string_)
    return found.groups() if found else (None, None)


def yamlify_arg(arg):
    """What YAML reads in an argument, where that can have been meant."""
    from .yaml import safe_load

    if not isinstance(arg, str) or arg.strip() in ("", "---", "...") or any(char in arg for char in "\t\r\n"):
        return arg
    if "_" in arg and not arg.strip().strip("0123456789_"):
        return arg
    if arg == "None":
        return None
    try:
        found = safe_load(arg)
    except Exception:
        return arg
    if "#" in arg:
        return arg if found is None or isinstance(found, str) else found
    started = {dict: "{", list: "["}.get(type(found))
    if started is not None:
        return found if arg.startswith(started) else arg
    if found is None or isinstance(found, (int, float, str)):
        # A lone sign of YAML reads as nothing.
        return arg if arg in ("|", "!") and not found else found
    return arg


def get_function_argspec(func, is_class_method=None):
    if not callable(func):
        raise TypeError("{} is not a callable".format(func))
    while hasattr(func, "__wrapped__"):
        func = func.__wrapped__
    names, defaults, rest, keywords = [], [], None, None
    for parameter in inspect.signature(func).parameters.values():
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD:
            names.append(parameter.name)
            if parameter.default is not parameter.empty:
                defaults.append(parameter.default)
        elif parameter.kind is parameter.VAR_POSITIONAL:
            rest = parameter.name
        elif parameter.kind is parameter.VAR_KEYWORD:
            keywords = parameter.name
    return _ArgSpec(names[1:] if is_class_method else names, rest, keywords, tuple(defaults) or None)


def shlex_split(s, **kwargs):
    return shlex.split(s, **kwargs) if isinstance(s, str) else s


def arg_lookup(fun, aspec=None):
    spec = aspec or get_function_argspec(fun)
    needed = len(spec.args) - len(spec.defaults or ())
    return {"args": spec.args[:needed], "kwargs": dict(zip(spec.args[needed:], spec.defaults or ()))}


def argspec_report(functions, module=""):
    """Parameters of the functions of a module, or of those that a glob names."""
    import fnmatch

    glob = "*" in module or "." in module
    found = {}
    for name in fnmatch.filter(functions, module) if glob else [name for name in functions if name.startswith(module + ".")]:
        try:
            spec = get_function_argspec(functions[name])
        except TypeError:
            continue
        found[name] = {
            "args": spec.args or None, "defaults": spec.defaults, "varargs": True if spec.varargs else None,
            "kwargs": True if spec.keywords else None,
        }
    return found


def split_input(val, mapper=None):
    items = val if isinstance(val, list) else [item.strip() for item in str(val).split(",")]
    return [mapper(item) for item in items] if mapper else list(items)


def test_mode(**kwargs):
    from .data import is_true

    return any(key.lower() == "test" and is_true(value) for key, value in kwargs.items())


def format_call(fun, data, initial_ret=None, expected_extra_kws=(), is_class_method=None):
    """The part of `data` that a function takes, as `args` and `kwargs`; refuses what it does not take."""
    ret = initial_ret or {}
    spec = get_function_argspec(fun, is_class_method=is_class_method)
    known = arg_lookup(fun, spec)
    missing = [name for name in known["args"] if name not in data]
    if missing:
        count = len(known["args"])
        raise SaltInvocationError("{} takes at least {} argument{} ({} given)".format(
            fun.__name__, count, "s" if count > 1 else "", count - len(missing)))
    ret["args"] = [data[name] for name in known["args"]]
    ret["kwargs"] = {name: data.get(name, default) for name, default in known["kwargs"].items()}
    taken = set(spec.args) | set(expected_extra_kws)
    extra = {key: value for key, value in data.items() if key not in taken}
    if spec.keywords:
        ret["kwargs"].update(extra)
    elif extra:
        _refuse(sorted(extra, key=list(data).index), ret.get("full", "{}.{}".format(fun.__module__, fun.__name__)))
    return ret


def _refuse(names, function):
    if len(names) == 1:
        raise SaltInvocationError("'{}' is an invalid keyword argument for '{}'".format(names[0], function))
    first = ", ".join("'{}'".format(name) for name in names[:-1])
    raise SaltInvocationError("{} and '{}' are invalid keyword arguments for '{}'".format(first, names[-1], function))


def parse_function(s):
    """`fun(1, a=2)` as its name, its positional and its keyword arguments, all of them texts; three times None for anything else."""
    lexer = shlex.shlex(s, posix=True)
    lexer.escapedquotes = "\"'"
    tokens = iter(lexer)
    name, opened = [], False
    for token in tokens:
        opened = token == "("
        if opened:
            break
        name.append(token)
    found = _arguments(tokens) if name and opened else None
    return ("".join(name),) + found if found else (None, None, None)


def _arguments(tokens):
    args, kwargs, word, key, open_brackets = [], {}, [], None, []
    for token in tokens:
        if not open_brackets and token in (",", ")"):
            if key:
                kwargs[key] = "".join(word)
            elif word:
                args.append("".join(word))
            if token == ")":
                return args, kwargs
            word, key = [], None
        elif not open_brackets and token == "=":
            word, key = [], "".join(word)
        else:
            if token in _CLOSED_BY:
                open_brackets.append(_CLOSED_BY[token])
            elif token in _CLOSED_BY.values() and (not open_brackets or open_brackets.pop() != token):
                return None
            word.append(token)
    return None


def prepare_kwargs(all_kwargs, class_init_kwargs):
    """Those of a class, and the others; without those that are None."""
    given = {key: value for key, value in all_kwargs.items() if value is not None}
    init = {key: value for key, value in given.items() if key in class_init_kwargs}
    return init, {key: value for key, value in given.items() if key not in init}
