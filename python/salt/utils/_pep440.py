"""Versions as packages of Python have them (PEP 440), comparable with each other and with texts."""
import functools
import re

_FORM = re.compile(r"""^\s*v?(?:(?P<epoch>\d+)!)?(?P<release>\d+(?:\.\d+)*)
    (?:[-_.]?(?P<pre>alpha|beta|preview|pre|rc|a|b|c)[-_.]?(?P<pre_number>\d*))?
    (?:-(?P<post_short>\d+)|[-_.]?(?P<post>post|rev|r)[-_.]?(?P<post_number>\d*))?
    (?:[-_.]?(?P<dev>dev)[-_.]?(?P<dev_number>\d*))?
    (?:\+(?P<local>[a-z0-9]+(?:[-_.][a-z0-9]+)*))?\s*$""", re.VERBOSE | re.IGNORECASE)
_PRE = {"alpha": "a", "beta": "b", "c": "rc", "pre": "rc", "preview": "rc"}
# Before and after everything else at their place.
_FIRST, _LAST = (-1,), (1,)


class InvalidVersion(ValueError):
    """The text is no version."""


@functools.total_ordering
class Version:
    def __init__(self, version):
        found = _FORM.match(version)
        if not found:
            raise InvalidVersion("Invalid version: '{}'".format(version))
        part = found.groupdict()
        self.epoch = int(part["epoch"] or 0)
        self.release = tuple(int(number) for number in part["release"].split("."))
        kind = (part["pre"] or "").lower()
        self.pre = (_PRE.get(kind, kind), int(part["pre_number"] or 0)) if kind else None
        after = part["post_short"] or (part["post_number"] or 0 if part["post"] else None)
        self.post = None if after is None else int(after)
        self.dev = int(part["dev_number"] or 0) if part["dev"] else None
        self.local = re.sub("[-_]", ".", part["local"].lower()) if part["local"] else None

    @property
    def major(self):
        return self.release[0]

    @property
    def minor(self):
        return self.release[1] if len(self.release) > 1 else 0

    @property
    def micro(self):
        return self.release[2] if len(self.release) > 2 else 0

    @property
    def is_prerelease(self):
        return self.dev is not None or self.pre is not None

    @property
    def public(self):
        return str(self).partition("+")[0]

    @property
    def base_version(self):
        epoch = "{}!".format(self.epoch) if self.epoch else ""
        return epoch + ".".join(map(str, self.release))

    def __str__(self):
        text = self.base_version
        if self.pre is not None:
            text += "{}{}".format(*self.pre)
        for name in ("post", "dev"):
            if getattr(self, name) is not None:
                text += ".{}{}".format(name, getattr(self, name))
        return text + ("+" + self.local if self.local else "")

    def __repr__(self):
        return "<{}('{}')>".format(type(self).__name__, self)

    def _key(self):
        release = list(self.release)
        while len(release) > 1 and release[-1] == 0:
            release.pop()
        pre = _LAST if self.pre is None else (0,) + self.pre
        if self.pre is None and self.post is None and self.dev is not None:
            pre = _FIRST
        post = _FIRST if self.post is None else (0, self.post)
        dev = _LAST if self.dev is None else (0, self.dev)
        local = [(1, int(part), "") if part.isdigit() else (0, 0, part) for part in (self.local or "").split(".")] if self.local else []
        return self.epoch, release, pre, post, dev, local

    def _other(self, other):
        return type(self)(other) if isinstance(other, str) else other

    def __eq__(self, other):
        other = self._other(other)
        return self._key() == other._key() if isinstance(other, Version) else NotImplemented

    def __lt__(self, other):
        other = self._other(other)
        return self._key() < other._key() if isinstance(other, Version) else NotImplemented

    def __hash__(self):
        return hash(str(self._key()))


parse = Version
