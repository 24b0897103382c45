"""Rendering texts through Halite."""
import os

TEMPLATE_DIRNAME = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "templates")


def _renderer(name):
    def render(tmplsrc, from_str=False, to_str=False, context=None, tmplpath=None, saltenv="base", **kwargs):
        from halite_worker import bridge

        text = tmplsrc
        if not from_str:
            with open(tmplsrc) as handle:
                text = handle.read()
        found = bridge.ask("render", text, name, dict(context or {}, **kwargs.get("kws", {})))
        return {"result": True, "data": found}

    return render


JINJA = _renderer("jinja")
MAKO = _renderer("mako")
PY = _renderer("py")
TEMPLATE_REGISTRY = {"jinja": JINJA, "mako": MAKO, "py": PY}


def render_jinja_tmpl(text, context, tmplpath=None):
    from halite_worker import bridge

    return bridge.ask("render", text, "jinja", {key: value for key, value in context.items() if key not in (
        "salt", "opts", "grains", "pillar")})
