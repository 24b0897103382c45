"""Exceptions by their names."""
import builtins


def raise_error(name=None, args=None, message=""):
    import salt.exceptions

    wanted = name or "Exception"
    cls = getattr(salt.exceptions, wanted, None) or getattr(builtins, wanted, None) or salt.exceptions.SaltException
    raise cls(*args) if args is not None else cls(message)


def pack_exception(exc):
    return exc.pack() if hasattr(exc, "pack") else {"message": str(exc), "args": exc.args}


def fire_exception(exc, opts, job=None, node="minion"):
    from halite_worker import bridge

    return bridge.ask("event", "_salt_error", pack_exception(exc))
