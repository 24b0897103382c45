"""Beacon configurations."""


def list_to_dict(config):
    found = {}
    for item in config or []:
        found.update(item)
    return found


def remove_hidden_options(config, whitelist):
    for name in [name for name in config if name.startswith("_") and name not in whitelist]:
        config.pop(name)
    return config
