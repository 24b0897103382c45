"""Text."""
import fnmatch
import random as _random
import re


def to_bytes(value, encoding=None, errors="strict"):
    if value is None or isinstance(value, bytes):
        return value
    if isinstance(value, bytearray):
        return bytes(value)
    if isinstance(value, str):
        return value.encode(encoding or "utf-8", errors)
    raise TypeError("expected str, bytes, or bytearray not {}".format(type(value)))


def to_str(value, encoding=None, errors="strict", normalize=False):
    if isinstance(value, str):
        if normalize:
            import unicodedata

            return unicodedata.normalize("NFC", value)
        return value
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).decode(encoding or "utf-8", errors)
    if value is None:
        return value
    raise TypeError("expected str, bytes, or bytearray not {}".format(type(value)))


to_unicode = to_str


def to_num(text):
    for kind in (int, float):
        try:
            return kind(text)
        except (TypeError, ValueError):
            continue
    return text


def to_none(text):
    return None if str(text).strip().lower() in ("none", "null", "") else text


def is_quoted(value):
    if isinstance(value, str) and len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
        return value[0]
    return ""


def dequote(value):
    return value[1:-1] if is_quoted(value) else value


def is_hex(value):
    try:
        int(value, 16)
        return True
    except (TypeError, ValueError):
        return False


def is_binary(data):
    if not data or not isinstance(data, (str, bytes)):
        return False
    return ("\0" if isinstance(data, str) else b"\0") in data


def random(size=32):
    return _random.SystemRandom().getrandbits(size * 8).to_bytes(size, "big")


def contains_whitespace(text):
    return any(char.isspace() for char in text)


def human_to_bytes(size, default_unit="B", handle_metric=False):
    found = re.match(r"(?P<value>[0-9.]+)\s*(?P<unit>[a-zA-Z]*)$", str(size).strip())
    if not found:
        return 0
    unit = (found.group("unit") or default_unit).upper()
    metric = handle_metric and len(unit) == 2 and unit[1] == "B"
    power = "BKMGTPEZY".find(unit[:1])
    return int(float(found.group("value")) * (1000 if metric else 1024) ** max(power, 0))


def build_whitespace_split_regex(text):
    return "".join(r"(?:[\s]+)?{}(?:[\s]+)?".format(re.escape(part)) for part in text.split())


def expr_match(line, expr):
    """A glob, or a regular expression anchored at both ends."""
    if line == expr or fnmatch.fnmatch(line, expr):
        return True
    try:
        return bool(re.match(r"\A{}\Z".format(expr), line))
    except re.error:
        return False


def check_whitelist_blacklist(value, whitelist=None, blacklist=None):
    def listed(entries):
        return [entries] if isinstance(entries, str) else list(entries or [])

    if any(expr_match(value, entry) for entry in listed(blacklist)):
        return False
    return not listed(whitelist) or any(expr_match(value, entry) for entry in listed(whitelist))


def check_include_exclude(path, include=None, exclude=None):
    def fits(pattern):
        return bool(re.search(pattern[2:], path)) if pattern.startswith("E@") else fnmatch.fnmatch(path, pattern)

    if include and not fits(include):
        return False
    return not (exclude and fits(exclude))


def print_cli(msg, retries=10, step=0.01):
    print(msg)


def get_context(template, line, num_lines=5, marker=None):
    lines = template.splitlines()
    first, last = max(line - num_lines - 1, 0), min(line + num_lines, len(lines))
    shown = list(lines[first:last])
    if 0 <= line - first - 1 < len(shown):
        shown[line - first - 1] += marker or "    <======================"
    return "---\n{}\n---".format("\n".join(shown))


def get_diff(a, b, *args, **kwargs):
    import difflib

    return "".join(difflib.unified_diff([to_str(x) for x in a], [to_str(x) for x in b], *args, **kwargs))


def camel_to_snake_case(text):
    return re.sub("([a-z0-9])([A-Z])", r"\1_\2", re.sub("(.)([A-Z][a-z]+)", r"\1_\2", text)).lower()


def snake_to_camel_case(text, uppercamel=False):
    found = "".join(part.capitalize() for part in text.split("_"))
    return found if uppercamel else found[:1].lower() + found[1:]


def to_snake_case(text):
    return camel_to_snake_case(text)


