"""YAML: with PyYAML where the host has it, else with that of Halite."""
try:
    import yaml as _yaml
    from yaml import YAMLError, constructor, parser, scanner  # noqa: F401
    from yaml.constructor import ConstructorError
    from yaml.parser import ParserError
    from yaml.scanner import ScannerError  # noqa: F401
except ImportError:
    import types

    _yaml = None

    class YAMLError(Exception):
        """The text is not YAML."""

    ConstructorError = ParserError = ScannerError = YAMLError
    constructor = types.SimpleNamespace(ConstructorError=YAMLError)
    parser = types.SimpleNamespace(ParserError=YAMLError)
    scanner = types.SimpleNamespace(ScannerError=YAMLError)


def _ask(what, value):
    from halite_worker import bridge
    from salt.exceptions import SaltException

    try:
        return bridge.ask(what, value)
    except SaltException as exc:
        raise YAMLError(str(exc))


if _yaml is not None:
    import collections

    class SaltYamlSafeLoader(getattr(_yaml, "CSafeLoader", _yaml.SafeLoader)):
        """PyYAML's safe loader, with Salt's rules: keys once, dates as text, and numbers with a zero before them in tens."""

        def __init__(self, stream, dictclass=dict):
            super().__init__(stream)
            self.dictclass = dictclass

        def construct_yaml_map(self, node):
            data = self.dictclass()
            yield data
            data.update(self.construct_mapping(node))

        def construct_mapping(self, node, deep=False):
            self._refuse_twice(node)
            return super().construct_mapping(node, deep)

        def _refuse_twice(self, node):
            seen = set()
            for key_node, _ in node.value if isinstance(node, _yaml.MappingNode) else ():
                if key_node.tag == "tag:yaml.org,2002:merge":
                    continue
                key = self.construct_object(key_node, deep=True)
                if isinstance(key, collections.abc.Hashable) and key in seen:
                    text = "found conflicting ID '{}'".format(key)
                    raise ConstructorError("while constructing a mapping", node.start_mark, text, key_node.start_mark)
                seen.add(key if isinstance(key, collections.abc.Hashable) else None)

        def construct_scalar(self, node):
            value = node.value
            if node.tag == "tag:yaml.org,2002:int" and value[:1] == "0" and value[:2] not in ("0b", "0x"):
                node.value = value.lstrip("0") or "0"
            return super().construct_scalar(node)

    SaltYamlSafeLoader.add_constructor("tag:yaml.org,2002:map", SaltYamlSafeLoader.construct_yaml_map)
    SaltYamlSafeLoader.add_constructor("tag:yaml.org,2002:timestamp", SaltYamlSafeLoader.construct_scalar)

    class SafeOrderedDumper(getattr(_yaml, "CSafeDumper", _yaml.SafeDumper)):
        """Shows ordered and default maps as plain ones."""

    class OrderedDumper(getattr(_yaml, "CDumper", _yaml.Dumper)):
        """The same for everything that Python has."""

    class IndentedSafeOrderedDumper(SafeOrderedDumper):
        """Indents lists in maps."""

        def increase_indent(self, flow=False, indentless=False):
            return super().increase_indent(flow, False)

    for _dumper in (SafeOrderedDumper, OrderedDumper):
        _dumper.add_representer(collections.OrderedDict, lambda dumper, data: dumper.represent_dict(list(data.items())))
        _dumper.add_representer(collections.defaultdict, _yaml.representer.SafeRepresenter.represent_dict)
    SafeOrderedDumper.add_representer(None, lambda dumper, data: dumper.represent_scalar("tag:yaml.org,2002:null", "NULL"))
else:
    SaltYamlSafeLoader = SafeOrderedDumper = IndentedSafeOrderedDumper = OrderedDumper = None
Loader = SaltYamlSafeLoader


def load(stream, Loader=None, **kwargs):
    if _yaml is not None:
        return _yaml.load(stream, Loader or SaltYamlSafeLoader)
    text = stream.read() if hasattr(stream, "read") else stream
    return _ask("yaml_load", text if isinstance(text, str) else text.decode("utf-8"))


def safe_load(stream, Loader=None):
    return load(stream, Loader)


def safe_load_all(stream):
    if _yaml is None:
        raise YAMLError("several documents in one stream need PyYAML for this Python")
    return _yaml.load_all(stream, SaltYamlSafeLoader)


def dump(data, stream=None, **kwargs):
    """PyYAML's own form, with sorted keys."""
    if _yaml is not None:
        kwargs.setdefault("allow_unicode", True)
        kwargs.setdefault("default_flow_style", None)
        return _yaml.dump(data, stream, **kwargs)
    text = _ask("yaml_dump", data)
    if stream is None:
        return text
    stream.write(text)
    return None


def safe_dump(data, stream=None, **kwargs):
    return dump(data, stream, **dict(kwargs, Dumper=SafeOrderedDumper) if _yaml is not None else kwargs)


get_dumper = {"OrderedDumper": OrderedDumper, "SafeOrderedDumper": SafeOrderedDumper,
              "IndentedSafeOrderedDumper": IndentedSafeOrderedDumper}.get
