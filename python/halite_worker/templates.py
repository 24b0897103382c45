"""Template engines of Python, when their library is there."""
import os

from . import packs, render_py


def render(renderer, path, text, variables):
    if text.startswith("#!"):
        text = text[text.find("\n") + 1:] if "\n" in text else ""
    engine = ENGINES.get(renderer)
    if engine is None:
        raise ValueError("the renderer {} does not exist".format(renderer))
    names = {key: value for key, value in render_py.names(variables).items() if not key.startswith("__")}
    try:
        return engine(path, text, names)
    except ImportError as exc:
        raise ImportError("the renderer {} needs a library for this Python: {}".format(renderer, exc))


def _mako(path, text, names):
    from mako import exceptions
    from mako.template import Template

    try:
        return Template(
            text, uri=names.get("sls", "").replace(".", "/") or None, strict_undefined=True, lookup=_MakoFiles(names, path)
        ).render(**names)
    except Exception:
        from salt.exceptions import SaltRenderError

        raise SaltRenderError(exceptions.text_error_template().render())


class _MakoFiles:
    """Other files that a template names: `salt://…`, `file://…`, or beside the file itself."""

    def __init__(self, names, path):
        self._saltenv = names.get("saltenv") or "base"
        self._folder = os.path.dirname(path or "")
        self._known = {}

    def adjust_uri(self, uri, relativeto):
        scheme = uri.partition("://")[0] if "://" in uri else ""
        if scheme in ("salt", "file"):
            return uri
        if scheme:
            raise ValueError("Unsupported URL scheme({}) in {}".format(scheme, uri))
        if uri.startswith("/"):
            return "salt://" + uri.lstrip("/")
        if relativeto is not None and "://" in relativeto:
            start, _, rest = relativeto.partition("://")
            return "{}://{}".format(start, os.path.normpath(os.path.join(os.path.dirname(rest), uri)))
        return "salt://" + os.path.normpath(os.path.join(os.path.dirname(relativeto or ""), uri)).lstrip("/")

    def get_template(self, uri, relativeto=None):
        from mako.template import Template

        if uri not in self._known:
            with open(self._file(uri), encoding="utf-8") as handle:
                self._known[uri] = Template(handle.read(), uri=uri, lookup=self)
        return self._known[uri]

    def _file(self, uri):
        if uri.startswith("file://"):
            return uri[len("file://"):]
        found = packs.SPACES["modules"]["cp.cache_file"](uri, self._saltenv)
        beside = os.path.join(self._folder, uri[len("salt://"):])
        if not found and os.path.isfile(beside):
            return beside
        if not found:
            from mako import exceptions

            raise exceptions.TopLevelLookupException("there is no file {}".format(uri))
        return found


def _wempy(path, text, names):
    from wemplate.wemplate import TemplateParser

    return TemplateParser(text).render(**names)


def _genshi(path, text, names):
    from genshi.template import MarkupTemplate, NewTextTemplate, OldTextTemplate

    method = names.get("method") or ("xml" if text.lstrip().startswith("<") else "text")
    engine = {"text": NewTextTemplate, "newtext": NewTextTemplate, "oldtext": OldTextTemplate}.get(method, MarkupTemplate)
    shown = method if engine is MarkupTemplate else "text"
    return engine(text).generate(**names).render(shown, encoding=None)


def _cheetah(path, text, names):
    from Cheetah.Template import Template

    return str(Template(text, searchList=[names]))


ENGINES = {"mako": _mako, "wempy": _wempy, "genshi": _genshi, "cheetah": _cheetah}
