"""Beacon configurations."""


def list_to_dict(config):
    found = {}
    for item in config or []:
        found.update(item)
    return found


def remove_hidden_options(config, whitelist):
    """Takes entries out of the list that have a name with an underscore at its start."""
    config[:] = [entry for entry in config if not any(name.startswith("_") and name not in whitelist for name in entry)]
    return config
