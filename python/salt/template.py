"""Rendering files."""


def compile_template(template, renderers, default, blacklist=None, whitelist=None, saltenv="base", sls="", input_data="", **kwargs):
    from halite_worker import bridge

    text = input_data
    if template != ":string:":
        with open(template) as handle:
            text = handle.read()
    return bridge.ask("render", text, None, {}, default)


def compile_template_str(template, renderers, default, blacklist=None, whitelist=None):
    from halite_worker import bridge

    return bridge.ask("render", template, None, {}, default)
