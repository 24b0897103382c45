"""The release of Salt whose behaviour Halite has."""

__version_info__ = (3006, 27)
__version__ = "3006.27"


class SaltStackVersion:
    """A release, comparable with others and with texts."""

    NAMES = {
        "hydrogen": (2014, 1), "helium": (2014, 7), "lithium": (2015, 5), "beryllium": (2015, 8), "boron": (2016, 3),
        "carbon": (2016, 11), "nitrogen": (2017, 7), "oxygen": (2018, 3), "fluorine": (2019, 2), "neon": (3000,),
        "sodium": (3001,), "magnesium": (3002,), "aluminium": (3003,), "aluminum": (3003,), "silicon": (3004,),
        "phosphorus": (3005,), "sulfur": (3006,), "chlorine": (3007,), "argon": (3008,),
    }

    def __init__(self, major, minor=None, bugfix=None, *rest):
        self.info = tuple(part for part in (major, minor, bugfix) if isinstance(part, int))
        self.major, self.minor, self.bugfix = major, minor, bugfix

    @classmethod
    def parse(cls, text):
        import re

        found = [int(part) for part in re.findall(r"\d+", str(text).split("-")[0])]
        return cls(*(found or [0]))

    @classmethod
    def from_name(cls, name):
        found = cls.NAMES.get(name.lower())
        if found is None:
            raise ValueError("'{}' is not the name of a Salt release".format(name))
        return cls(*found)

    def _other(self, other):
        if isinstance(other, SaltStackVersion):
            return other.info
        return SaltStackVersion.parse(other).info if isinstance(other, str) else tuple(other)

    def __eq__(self, other):
        return self.info == self._other(other)

    def __lt__(self, other):
        return self.info < self._other(other)

    def __le__(self, other):
        return self.info <= self._other(other)

    def __gt__(self, other):
        return self.info > self._other(other)

    def __ge__(self, other):
        return self.info >= self._other(other)

    def __hash__(self):
        return hash(self.info)

    def __str__(self):
        return ".".join(str(part) for part in self.info)

    string = property(__str__)
    formatted_version = property(__str__)


__saltstack_version__ = SaltStackVersion(*__version_info__)
