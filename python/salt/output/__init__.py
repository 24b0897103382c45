"""Formatting results."""


def out_format(data, out, opts=None, **kwargs):
    from halite_worker import bridge

    return bridge.ask("show", data, out or "nested")


string_format = out_format


def display_output(data, out=None, opts=None, **kwargs):
    print(out_format(data, out, opts))
