"""Events: sent and read through Halite."""
import datetime


def tagify(suffix="", prefix="", base="salt"):
    parts = [base, prefix] if prefix else [base]
    parts += suffix if isinstance(suffix, (list, tuple)) else [suffix]
    return "/".join(str(part) for part in parts if part)


TAGEND = "\n\n"
TAGS = {"auth": "auth", "job": "job", "key": "key", "minion": "minion", "run": "run", "wheel": "wheel", "cloud": "cloud"}


def _ask(what, *arguments):
    from halite_worker import bridge

    return bridge.ask(what, *arguments)


class SaltEvent:
    """One end of the event bus. Events are kept from the first look on, or from the start with `listen`."""

    def __init__(self, node="minion", *args, **kwargs):
        self.node = node
        self._reader = None
        if kwargs.get("listen"):
            self.connect_pub()

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        self.destroy()

    def connect_pub(self, timeout=None):
        if self._reader is None:
            self._reader = _ask("listen")
        return True

    connect_pull = connect_pub

    def subscribe(self, tag=None, match_type=None):
        self.connect_pub()

    def unsubscribe(self, tag=None, match_type=None):
        return None

    def fire_event(self, data, tag, timeout=1000):
        return _ask("event", tag, dict(data, _stamp=datetime.datetime.utcnow().isoformat()))

    def fire_master(self, data, tag, timeout=1000):
        return self.fire_event(data, tag, timeout)

    def get_event(self, wait=5, tag="", full=False, match_type=None, no_block=False, auto_reconnect=False):
        """The next event whose tag matches: its data, or `{tag, data}`. None when none came in time; `wait=0` waits for ever."""
        self.connect_pub()
        seconds = 0 if no_block else (wait or None)
        found = _ask("next_event", self._reader, tag or "", match_type or "startswith", seconds)
        if found is None:
            return None
        return found if full else found["data"]

    def get_event_block(self):
        return self.get_event(wait=0)

    def get_event_noblock(self):
        return self.get_event(no_block=True)

    def iter_events(self, tag="", full=False, match_type=None, auto_reconnect=False):
        while True:
            found = self.get_event(wait=0, tag=tag, full=full, match_type=match_type)
            if found is None:
                return
            yield found

    def destroy(self):
        reader, self._reader = self._reader, None
        if reader is not None:
            _ask("unlisten", reader)

    close_pub = destroy

    def set_event_handler(self, *args, **kwargs):
        return None


MasterEvent = LocalClientEvent = NamespacedEvent = MinionEvent = SaltEvent


def get_event(node="minion", *args, **kwargs):
    return SaltEvent(node, listen=kwargs.get("listen", False))


def get_master_event(opts=None, sock_dir=None, listen=True, *args, **kwargs):
    return SaltEvent("master", listen=listen)
