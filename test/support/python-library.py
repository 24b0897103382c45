"""Evaluates expressions with a package `salt`: `python -I python-library.py <folder of the package, or -> <work folder> files…`.

One JSON line comes out for each expression: its text, and what came of it as text that two packages can be compared by."""
import base64  # noqa: F401
import builtins
import copy  # noqa: F401
import datetime  # noqa: F401
import functools
import hmac  # noqa: F401
import importlib
import io
import json
import logging
import os
import re
import shutil
import sys
import types
import xml.etree.ElementTree as ET  # noqa: F401
from collections import OrderedDict, defaultdict  # noqa: F401
from collections.abc import Mapping

if sys.argv[1] != "-":
    sys.path.insert(0, sys.argv[1])
builtins.__salt_system_encoding__ = "utf-8"
logging.disable(logging.CRITICAL)
TMP = os.path.join(sys.argv[2], "work")
INTERFACES = {
    "lo": {"up": True, "inet": [{"address": "127.0.0.1", "netmask": "255.0.0.0", "label": "lo"}],
           "inet6": [{"address": "::1", "prefixlen": "128"}]},
    "eth0": {"up": True, "hwaddr": "02:00:00:00:00:01",
             "inet": [{"address": "10.1.2.3", "netmask": "255.255.0.0", "label": "eth0"},
                      {"address": "9.1.2.3", "netmask": "255.255.0.0", "label": "eth0"}],
             "secondary": [{"address": "10.1.2.4", "netmask": "255.255.0.0", "type": "inet", "label": "eth0"}],
             "inet6": [{"address": "fe80::1", "prefixlen": "64"}, {"address": "2001:db8::1", "prefixlen": "64"}]},
    "eth1": {"up": False},
}
# Names in expressions → modules; those whose names Python itself uses end with an underscore.
MODULES = {name: "salt.utils." + name for name in (
    "args atomicfile beacons context data dateutils dictdiffer dictupdate error filebuffer files find hashutils immutabletypes "
    "jid listdiffer locales network odict path process state stringutils templates timed_subprocess url user versions xmlutil "
    "yaml decorators").split()}
MODULES.update(
    json_="salt.utils.json", functools_="salt.utils.functools", itertools_="salt.utils.itertools", exceptions="salt.exceptions",
    decorators_path="salt.utils.decorators.path", decorators_jinja="salt.utils.decorators.jinja", version="salt.version",
    validate_net="salt.utils.validate.net", validate_path="salt.utils.validate.path", validate_user="salt.utils.validate.user",
    exitcodes="salt.defaults.exitcodes", defaults="salt.defaults", nested="salt.output.nested",
)


def made(value, use):
    return use(value)


def with_(manager, use):
    with manager as value:
        return use(value)


def read(handle):
    with handle:
        return handle.read()


def file(name, content):
    path = os.path.join(TMP, name)
    with open(path, "wb") as handle:
        handle.write(content)
    return path


def folder(**contents):
    path = os.path.join(TMP, "folder")
    for name, content in contents.items():
        os.makedirs(os.path.dirname(os.path.join(path, name)), exist_ok=True)
        with open(os.path.join(path, name), "wb") as handle:
            handle.write(content)
    os.makedirs(path, exist_ok=True)
    return path


def link():
    path = os.path.join(TMP, "link")
    if not os.path.islink(path):
        os.symlink("/etc/passwd", path)
    return path


def environment_of(**values):
    before = dict(os.environ)
    os.environ.update(values)
    return lambda: os.environ.update(before)


def run(kind, *args, **kwargs):
    process = kind(*args, **kwargs)
    code = process.run()
    return code, process.stdout, process.stderr


def show(value):
    """The value as text, without order where there is none, addresses and folders of this run."""
    if isinstance(value, BaseException):
        return "{}({})".format(type(value).__name__, value)
    if isinstance(value, Mapping):
        listed = sorted("{}: {}".format(show(key), show(item)) for key, item in value.items())
        return "{" + ", ".join(listed) + "}"
    if isinstance(value, (set, frozenset)):
        return "set(" + ", ".join(sorted(show(item) for item in value)) + ")"
    if isinstance(value, tuple):
        return "(" + ", ".join(show(item) for item in value) + ",)"
    if isinstance(value, list):
        return "[" + ", ".join(show(item) for item in value) + "]"
    if isinstance(value, types.GeneratorType):
        return "generator" + show(list(value))
    text = repr(value) if isinstance(value, (str, bytes, int, float, type(None))) else "<{} {}>".format(type(value).__name__, value)
    return re.sub("0x[0-9a-f]{6,}", "0x", text.replace(sys.argv[2], "DIR").replace("/private", ""))


def evaluate(text, names):
    shutil.rmtree(TMP, ignore_errors=True)
    os.makedirs(TMP)
    before = dict(os.environ)
    try:
        return show(eval(text, names))
    except BaseException as exc:
        kind = type(exc)
        return "raises {} {}".format([base.__name__ for base in kind.__mro__[:2]], show(str(exc)))
    finally:
        os.environ.clear()
        os.environ.update(before)


def main():
    names = dict(globals())
    for name, module in MODULES.items():
        try:
            names[name] = importlib.import_module(module)
        except ImportError as exc:
            names[name] = exc
    if isinstance(names["nested"], types.ModuleType):
        names["nested"].__opts__ = {}
    try:
        import salt.ext.six
        import salt.ext.six.moves

        names["six"] = salt.ext.six
    except ImportError:
        names["six"] = None
    for path in sys.argv[3:]:
        with open(path, encoding="utf-8") as handle:
            lines = [line.rstrip("\n") for line in handle if line.strip() and not line.startswith("# ")]
        for line in lines:
            # io and functools are of Python: expressions may use them.
            sys.stdout.write(json.dumps([line, evaluate(line, dict(names, io=io, functools=functools))]) + "\n")


main()
