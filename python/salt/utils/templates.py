"""Rendering texts through Halite."""
import os
import traceback

TEMPLATE_DIRNAME = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "templates")
# What every template has anyway.
_GIVEN = ("salt", "opts", "grains", "pillar")


def _text_of(source, from_str, folder):
    if hasattr(source, "read"):
        with source:
            return source.read()
    if from_str:
        return source
    with open(os.path.join(folder or "", source), encoding="utf-8", newline="") as handle:
        return handle.read()


def _result(text, to_str):
    """The text, or the path of a new file with it."""
    from .files import fopen, mkstemp

    if to_str:
        return {"result": True, "data": text}
    path = mkstemp()
    with fopen(path, "w") as handle:
        handle.write(text)
    return {"result": True, "data": path}


def _renderer(name):
    def render(tmplsrc, from_str=False, to_str=False, context=None, tmplpath=None, **kws):
        from halite_worker import bridge

        names = {key: value for key, value in dict(kws, **(context or {})).items() if key not in _GIVEN}
        text = _text_of(tmplsrc, from_str, tmplpath)
        try:
            found = bridge.ask("render", text, name, names)
        except Exception:
            return {"result": False, "data": traceback.format_exc()}
        return _result(found, to_str)

    return render


def py(sfn, string=False, **kwargs):
    """A file of Python whose `run()` gives the text."""
    if not os.path.isfile(sfn):
        return {}
    with open(sfn, encoding="utf-8") as handle:
        text = handle.read()
    return _renderer("py")(text, from_str=True, to_str=string, **kwargs)


JINJA = _renderer("jinja")
MAKO = _renderer("mako")
WEMPY = _renderer("wempy")
GENSHI = _renderer("genshi")
CHEETAH = _renderer("cheetah")
TEMPLATE_REGISTRY = {"jinja": JINJA, "mako": MAKO, "py": py, "wempy": WEMPY, "genshi": GENSHI, "cheetah": CHEETAH}


def render_jinja_tmpl(tmplstr, context, tmplpath=None):
    from halite_worker import bridge

    return bridge.ask("render", tmplstr, "jinja", {key: value for key, value in context.items() if key not in _GIVEN})
