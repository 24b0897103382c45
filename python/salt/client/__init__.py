"""Jobs from extensions: through Halite, with the rights of the process that runs the extension."""


class LocalClient:
    """Publishes jobs; only in extensions of the master."""

    def __init__(self, c_path=None, mopts=None, **kwargs):
        from halite_worker import bridge

        self.opts = mopts or bridge.opts()

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        return None

    def _run(self, tgt, fun, arg, timeout, tgt_type, kwarg, full=False, **kwargs):
        from halite_worker import bridge

        job = {"tgt": tgt, "fun": fun, "arg": list(arg or ()), "timeout": timeout, "tgt_type": kwargs.get("expr_form") or tgt_type,
               "kwarg": dict(kwarg or {}), "full": full}
        for name in ("batch", "subset"):
            if kwargs.get(name) is not None:
                job[name] = kwargs[name]
        return bridge.ask("publish", job)

    def cmd(self, tgt, fun, arg=(), timeout=None, tgt_type="glob", ret="", jid="", full_return=False, kwarg=None, **kwargs):
        return self._run(tgt, fun, arg, timeout, tgt_type, kwarg, full_return, **kwargs)

    def cmd_full_return(self, tgt, fun, arg=(), timeout=None, tgt_type="glob", ret="", verbose=False, kwarg=None, **kwargs):
        return self._run(tgt, fun, arg, timeout, tgt_type, kwarg, True)

    def cmd_iter(self, tgt, fun, arg=(), timeout=None, tgt_type="glob", ret="", kwarg=None, **kwargs):
        for minion, result in self._run(tgt, fun, arg, timeout, tgt_type, kwarg, True).items():
            yield {minion: result}

    cmd_iter_no_block = cmd_iter

    def cmd_batch(self, tgt, fun, arg=(), tgt_type="glob", ret="", kwarg=None, batch="10%", **kwargs):
        for minion, result in self._run(tgt, fun, arg, None, tgt_type, kwarg, batch=batch).items():
            yield {minion: result}

    def cmd_subset(self, tgt, fun, arg=(), tgt_type="glob", ret="", kwarg=None, subset=3, **kwargs):
        return self._run(tgt, fun, arg, None, tgt_type, kwarg, subset=subset)

    def cmd_async(self, *args, **kwargs):
        raise NotImplementedError("cmd_async is not available in extensions of Halite: use cmd")

    run_job = cmd_async


def get_local_client(c_path=None, mopts=None, **kwargs):
    return LocalClient(mopts=mopts)


class Caller:
    """Functions of this minion."""

    def __init__(self, c_path=None, mopts=None):
        from halite_worker import bridge

        self.opts = mopts or bridge.opts()

    def cmd(self, fun, *args, **kwargs):
        from halite_worker import packs

        return packs.SPACES["modules"][fun](*args, **kwargs)

    function = cmd
