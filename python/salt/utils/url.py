"""`salt://` addresses."""
from urllib.parse import urlparse, urlunparse

from .data import is_true  # noqa: F401


def parse(url):
    """The path and the environment of `salt://path?saltenv=dev`."""
    if not url.startswith("salt://"):
        return url, None
    path, _, query = url[len("salt://"):].partition("?")
    saltenv = next((part[len("saltenv="):] for part in query.split("&") if part.startswith("saltenv=")), None)
    return (path if saltenv or not query else url[len("salt://"):]).lstrip("/"), saltenv


def create(path, saltenv=None):
    return "salt://" + path + ("?saltenv={}".format(saltenv) if saltenv else "")


def is_escaped(url):
    return url.startswith("|") or url.startswith("salt://|")


def escape(url):
    return url if is_escaped(url) else "salt://|" + url[7:] if url.startswith("salt://") else "|" + url


def unescape(url):
    return url.replace("salt://|", "salt://", 1) if url.startswith("salt://|") else url.lstrip("|")


def add_env(url, saltenv):
    return create(parse(url)[0], saltenv) if url.startswith("salt://") else url


def split_env(url):
    path, saltenv = parse(url)
    return (create(path), saltenv) if url.startswith("salt://") else (url, None)


def validate(url, protos):
    from salt.exceptions import SaltInvocationError

    if not url.startswith("salt://") and urlparse(url).scheme not in protos:
        raise SaltInvocationError("'{}' is not a valid URL".format(url))


def strip_url_auth(url):
    parts = urlparse(url)
    return urlunparse(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def redact_http_basic_auth(text):
    import re

    return re.sub("(https?)://.*@", r"\1://<redacted>@", text)


def strip_proto(url):
    return url.partition("://")[2] if "://" in url else url
