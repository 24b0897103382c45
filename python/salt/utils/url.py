"""`salt://` addresses."""
import re
from urllib.parse import quote, urlparse, urlunparse, urlunsplit

_SALT = "salt://"


def parse(url):
    """The path and the environment of `salt://path?saltenv=dev`."""
    if not url.startswith(_SALT):
        return url, None
    resource = url[len(_SALT):]
    for query in ("?env=", "?saltenv="):
        path, found, saltenv = resource.partition(query)
        if found:
            # The old name of the parameter is cut off and not read.
            return path, saltenv if query == "?saltenv=" else None
    return resource, None


def create(path, saltenv=None):
    query = "saltenv={}".format(saltenv) if saltenv else ""
    return _SALT + urlunsplit(("", "", path.replace("\\", "/"), query, ""))


def _change(url, change):
    """Changes the path of what has no scheme or that of Salt."""
    scheme = urlparse(url).scheme
    if not scheme:
        return change(url)
    if scheme != "salt":
        return url
    path, saltenv = parse(url)
    return create(change(path), saltenv)


def is_escaped(url):
    scheme = urlparse(url).scheme
    return scheme in ("", "salt") and parse(url)[0].startswith("|")


def escape(url):
    return _change(url, lambda path: path if path.startswith("|") else "|" + path)


def unescape(url):
    return _change(url, lambda path: path.lstrip("|"))


def add_env(url, saltenv):
    return create(parse(url)[0], saltenv) if url.startswith(_SALT) else url


def split_env(url):
    path, saltenv = parse(url)
    return (create(path), saltenv) if url.startswith(_SALT) else (url, None)


def validate(url, protos):
    return urlparse(url).scheme in protos


def strip_proto(url):
    return re.sub("^[^:/]+://", "", url)


def add_http_basic_auth(url, user=None, password=None, https_only=False):
    if user is None and password is None:
        return url
    parts = urlparse(url)
    if https_only and parts.scheme != "https":
        raise ValueError("Basic Auth only supported for HTTPS")
    who = ":".join(quote(word, safe="") for word in (user, password) if word is not None)
    return urlunparse(parts._replace(netloc="{}@{}".format(who, parts.netloc)))


def redact_http_basic_auth(output):
    return re.sub("(https?)://.*@", r"\1://<redacted>@", output, flags=re.IGNORECASE)
