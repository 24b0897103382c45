"""Configurations: that of the process that runs the extension."""
DEFAULT_MINION_OPTS = {"file_client": "remote", "saltenv": None, "master": "salt", "renderer": "jinja|yaml"}
DEFAULT_MASTER_OPTS = {"interface": "0.0.0.0", "publish_port": 4505, "ret_port": 4506, "renderer": "jinja|yaml"}
DEFAULT_API_OPTS = {"api_pidfile": "/var/run/salt-api.pid"}


def _own(*args, **kwargs):
    from halite_worker import bridge

    return dict(bridge.opts())


minion_config = master_config = client_config = syndic_config = apply_minion_config = _own


def get_id(opts=None, cache_minion_id=False):
    return _own().get("id"), False
