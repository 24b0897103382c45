"""Options of returners."""


def get_returner_options(virtualname=None, ret=None, attrs=None, **kwargs):
    """From the configuration: `<name>.<option>`, for a profile `<profile>.<name>.<option>`."""
    options, defaults = kwargs.get("__opts__", {}), kwargs.get("defaults") or {}
    salt = kwargs.get("__salt__") or {}
    config = ret.get("ret_config") if isinstance(ret, dict) else None
    over = (ret.get("ret_kwargs") or {}) if isinstance(ret, dict) else {}
    found = {}
    for name, key in (attrs or {}).items():
        for whole in (["{}.{}.{}".format(config, virtualname, key)] if config else []) + ["{}.{}".format(virtualname, key)]:
            value = _option(salt, options, whole)
            if value not in (None, ""):
                found[name] = value
                break
        else:
            found[name] = defaults.get(name, "" if defaults == {} else None)
        if key in over:
            found[name] = over[key]
    return found


def _option(salt, options, name):
    if name in options:
        return options[name]
    nested = options
    for part in name.split("."):
        nested = nested.get(part) if isinstance(nested, dict) else None
    if nested is not None:
        return nested
    return salt["config.option"](name) if "config.option" in salt else None
