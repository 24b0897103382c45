"""Names that moved between Python 2 and 3."""
import builtins  # noqa: F401
import collections
import configparser  # noqa: F401
import copyreg  # noqa: F401
import functools
import html.parser as html_parser  # noqa: F401
import http.client as http_client  # noqa: F401
import importlib
import io
import itertools
import pickle as cPickle  # noqa: F401
import queue  # noqa: F401
import shlex
import socketserver  # noqa: F401
import _thread  # noqa: F401

input = builtins.input
range = xrange = builtins.range
map = builtins.map
zip = builtins.zip
filter = builtins.filter
reduce = functools.reduce
intern = __import__("sys").intern
reload_module = importlib.reload
filterfalse = itertools.filterfalse
zip_longest = itertools.zip_longest
StringIO = cStringIO = io.StringIO
UserDict = collections.UserDict
UserList = collections.UserList
UserString = collections.UserString
shlex_quote = shlex.quote
getcwd = __import__("os").getcwd

from salt._lazy import lazy  # noqa: E402

# `six.moves.urllib` without an import of its own: reading it takes a while.
lazy(__name__)
