"""HTTP, as Halite's own function does it."""
USERAGENT = "Salt"


def query(url, method="GET", **kwargs):
    from halite_worker import bridge

    kwargs = {key: value for key, value in kwargs.items() if key not in ("opts", "opts_for_get")}
    return bridge.call("modules", "http.query", [url], dict(kwargs, method=method))


def update_ca_bundle(*args, **kwargs):
    from halite_worker import bridge

    return bridge.call("modules", "http.update_ca_bundle", args, kwargs)


def parse_cookie_header(header):
    from http.cookies import SimpleCookie

    return [dict(morsel, name=name, value=morsel.value) for name, morsel in SimpleCookie(header).items()]


def sanitize_url(url, fields):
    import re

    for field in fields:
        url = re.sub("([?&]{})=[^&]*".format(re.escape(field)), r"\1=XXXXXXXXXX", url)
    return url
