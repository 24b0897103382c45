"""Text."""
import base64
import fnmatch
import os
import re
import shlex

_UNITS = "bkmgtpezy"
_ORDINARY = "".join(map(chr, range(32, 127))) + "\n\r\t\b"


def _encodings(encoding):
    names = list(encoding) if isinstance(encoding, (tuple, list)) else [encoding or "utf-8"]
    if not names:
        raise ValueError("encoding cannot be empty")
    return names


def _first_that_works(convert, names):
    """Several encodings are tried in their order; the problem of the last one is raised."""
    for name in names[:-1]:
        try:
            return convert(name)
        except UnicodeError:
            continue
    return convert(names[-1])


def _wrong(value):
    return TypeError("expected str, bytes, or bytearray not {}".format(type(value)))


def to_bytes(s, encoding=None, errors="strict"):
    names = _encodings(encoding)
    if isinstance(s, (bytes, bytearray)):
        return bytes(s)
    if isinstance(s, str):
        return _first_that_works(lambda name: s.encode(name, errors), names)
    raise _wrong(s)


def to_str(s, encoding=None, errors="strict", normalize=False):
    names = _encodings(encoding)
    if isinstance(s, (bytes, bytearray)):
        s = _first_that_works(lambda name: bytes(s).decode(name, errors), names)
    if not isinstance(s, str):
        raise _wrong(s)
    if not normalize:
        return s
    import unicodedata

    return unicodedata.normalize("NFC", s)


to_unicode = to_str


def to_num(text):
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def to_none(text):
    """None for what is empty or blank."""
    return text if str(text).strip() else None


def is_quoted(value):
    quoted = isinstance(value, str) and value[0] in "'\"" and value[0] == value[-1]
    return value[0] if quoted else ""


def dequote(value):
    return value[1:-1] if is_quoted(value) else value


def is_hex(value):
    try:
        int(value, 16)
        return True
    except (TypeError, ValueError):
        return False


def is_binary(data):
    """A zero byte, or more than three tenths of unusual characters."""
    if not data or not isinstance(data, (str, bytes)):
        return False
    text = data.decode("latin-1") if isinstance(data, bytes) else data
    return "\0" in text or sum(char not in _ORDINARY for char in text) / len(text) > 0.3


def random(size=32):
    return base64.b64encode(os.urandom(size)).decode("ascii")[:size]


def contains_whitespace(text):
    return any(char.isspace() for char in text)


def human_to_bytes(size, default_unit="B", handle_metric=False):
    """`2G`, `30MB`, `64KiB` as bytes; 0 for what has another form."""
    found = re.match(r"([0-9.]*)\s*(.*)$", str(size).strip())
    unit = (found.group(2) or default_unit).lower()
    number = to_num(found.group(1))
    plain, metric = re.match(r"(b|[kmgtpezy](ib)?)$", unit), re.match(r"[kmgtpezy]b$", unit)
    if isinstance(number, str) or not plain and not metric:
        return 0
    power = _UNITS.index(unit[0])
    return int(number * (10 ** (3 * power) if metric and handle_metric else 2 ** (10 * power)))


def build_whitespace_split_regex(text):
    """A regular expression that finds the text whatever white space is between its words."""
    space = r"(?:[\s]+)?"

    def words(line):
        lexer = shlex.shlex(line)
        lexer.whitespace_split = True
        lexer.commenters = ""
        if r"'\"" in line:
            lexer.quotes = ""
        elif "'" in line:
            lexer.quotes = '"'
        elif '"' in line:
            lexer.quotes = "'"
        return [re.escape(word) for word in lexer]

    return "(?m)^{}$".format("".join(space + space.join(words(line)) + space for line in text.splitlines()))


def expr_match(line, expr):
    """A glob, or a regular expression anchored at both ends."""
    try:
        return fnmatch.fnmatch(line, expr) or bool(re.match(r"\A{}\Z".format(expr), line))
    except (TypeError, re.error):
        return False


def _listed(entries, name):
    if isinstance(entries, str):
        return [entries]
    if entries and not hasattr(entries, "__iter__"):
        raise TypeError("Expecting iterable {}, but got {} ({})".format(name, type(entries).__name__, entries))
    return list(entries or ())


def check_whitelist_blacklist(value, whitelist=None, blacklist=None):
    black, white = _listed(blacklist, "blacklist"), _listed(whitelist, "whitelist")
    if any(expr_match(value, entry) for entry in black):
        return False
    return not white or any(expr_match(value, entry) for entry in white)


def check_include_exclude(path_str, include_pat=None, exclude_pat=None):
    """Patterns are globs, or regular expressions after `E@`; one or a list."""
    def fits(patterns):
        listed = patterns if isinstance(patterns, list) else [patterns]
        return any(bool(re.search(each[2:], path_str)) if each.startswith("E@") else fnmatch.fnmatch(path_str, each) for each in listed)

    return (not include_pat or fits(include_pat)) and not (exclude_pat and fits(exclude_pat))


def print_cli(msg, retries=10, step=0.01):
    try:
        print(msg)
    except UnicodeEncodeError:
        print(msg.encode("utf-8"))


def get_context(template, line, num_lines=5, marker=None):
    """The lines around a line, with a mark behind it."""
    lines = template.splitlines()
    if line > len(lines):
        return template
    first, last = max(0, line - num_lines - 1), min(len(lines), line + num_lines)
    if marker:
        lines[line - 1] += marker
    shown = ["[...]"] * (first > 0) + lines[first:last] + ["[...]"] * (last < len(lines))
    return "---\n{}\n---".format("\n".join(shown))


def get_diff(a, b, *args, **kwargs):
    import difflib

    def lines(items):
        return [to_str(item, ["utf-8", "latin-1"]) for item in items]

    return "".join(difflib.unified_diff(lines(a), lines(b), *args, **kwargs))


def camel_to_snake_case(camel_input):
    """`getHTTPCode` → `get_http_code`."""
    parted = re.sub(r"(?s)(?<=.)(?=[A-Z][a-z])|(?<=[a-z])(?=[A-Z])", "_", camel_input)
    return parted.lower()


def snake_to_camel_case(snake_input, uppercamel=False):
    first, *rest = snake_input.split("_")
    return (first.capitalize() if uppercamel else first) + "".join(word.capitalize() for word in rest)


to_snake_case = camel_to_snake_case
