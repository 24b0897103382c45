"""Fetching extensions."""


def sync(opts, form, saltenv=None, extmod_whitelist=None, extmod_blacklist=None, **kwargs):
    from halite_worker import bridge

    names = {"modules": "modules", "proxy": "proxymodules"}
    done = bridge.call("modules", "saltutil.sync_" + names.get(form, form), [saltenv], {})
    return done, bool(done)
