"""YAML: with PyYAML where the host has it, else with that of Halite."""
try:
    import yaml as _yaml
    from yaml import YAMLError
    from yaml.constructor import ConstructorError  # noqa: F401
    from yaml.parser import ParserError  # noqa: F401
    from yaml.scanner import ScannerError  # noqa: F401
except ImportError:
    _yaml = None

    class YAMLError(Exception):
        """The text is not YAML."""

    ConstructorError = ParserError = ScannerError = YAMLError


def _ask(what, value):
    from halite_worker import bridge
    from salt.exceptions import SaltException

    try:
        return bridge.ask(what, value)
    except SaltException as exc:
        raise YAMLError(str(exc))


if _yaml is not None:
    class SaltYamlSafeLoader(getattr(_yaml, "CSafeLoader", _yaml.SafeLoader)):
        """PyYAML's safe loader."""

    class SafeOrderedDumper(_yaml.SafeDumper):
        """Keeps the order of maps."""

        def ignore_aliases(self, data):
            return False

    class IndentedSafeOrderedDumper(SafeOrderedDumper):
        """Indents lists in maps."""

        def increase_indent(self, flow=False, indentless=False):
            return super().increase_indent(flow, False)

    import collections

    for _kind in (collections.OrderedDict, collections.defaultdict):
        SafeOrderedDumper.add_representer(_kind, lambda dumper, data: dumper.represent_dict(data.items()))
    OrderedDumper = SafeOrderedDumper
else:
    SaltYamlSafeLoader = SafeOrderedDumper = IndentedSafeOrderedDumper = OrderedDumper = None
Loader = SaltYamlSafeLoader


def load(stream, Loader=None, **kwargs):
    text = stream.read() if hasattr(stream, "read") else stream
    if _yaml is None:
        return _ask("yaml_load", text if isinstance(text, str) else text.decode("utf-8"))
    return _yaml.load(text, Loader or SaltYamlSafeLoader)


def safe_load(stream, Loader=None):
    return load(stream, Loader)


def safe_load_all(stream):
    if _yaml is None:
        raise YAMLError("several documents in one stream need PyYAML for this Python")
    return _yaml.load_all(stream, SaltYamlSafeLoader)


def dump(data, stream=None, **kwargs):
    if _yaml is None:
        text = _ask("yaml_dump", data)
    else:
        kwargs.setdefault("allow_unicode", True)
        kwargs.setdefault("default_flow_style", None)
        kwargs.setdefault("sort_keys", False) if _yaml.__version__ >= "5.1" else None
        kwargs.setdefault("Dumper", SafeOrderedDumper)
        return _yaml.dump(data, stream, **kwargs)
    if stream is None:
        return text
    stream.write(text)
    return None


def safe_dump(data, stream=None, **kwargs):
    return dump(data, stream, **kwargs)


get_dumper = {"OrderedDumper": OrderedDumper, "SafeOrderedDumper": SafeOrderedDumper}.get
