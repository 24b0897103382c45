"""Frames to and from the process that started the worker, and who of the waiting threads gets which."""
import os
import select
import signal
import struct
import threading
from collections import deque

from . import values

LARGEST = 256 * 1024 * 1024


class Channel:
    """One connection. Any thread may send and wait; whoever waits reads for all."""

    def __init__(self, descriptor, execute, largest=LARGEST):
        self._fd = descriptor
        self._pid = os.getpid()
        self._execute = execute
        self._largest = largest
        self._inbox = bytearray()
        self._outbox = bytearray()
        self._sending = threading.RLock()
        self._arrived = threading.Condition(threading.RLock())
        self._reading = False
        self._flushing = False
        self._replies = {}
        self._waiting = set()
        self._queue = deque()
        self._last = 0
        os.set_inheritable(descriptor, False)
        os.set_blocking(descriptor, True)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forked)
        threading.Thread(target=self._watch, name="halite-watch", daemon=True).start()

    def _forked(self):
        try:
            os.close(self._fd)
        except OSError:
            pass

    def _watch(self):
        """Ends this process with the one that started it, also while a function runs."""
        poll = select.poll()
        poll.register(self._fd, 0)
        poll.poll()
        self._die()

    @staticmethod
    def _die():
        """In the middle of a call, with everything that the call started."""
        from . import bridge

        if bridge.frames and os.getpgrp() == os.getpid():
            os.killpg(os.getpid(), signal.SIGKILL)
        os._exit(1)

    @property
    def own(self):
        return os.getpid() == self._pid

    def _check_process(self):
        if not self.own:
            raise RuntimeError("__salt__ and its kin cannot be used in a forked process: only in the one that ran the function")

    def send(self, message):
        self._check_process()
        body = values.dumps(message).encode("ascii")
        if len(body) > self._largest:
            raise ValueError(
                "the value takes {} MiB on its way to Halite; python_max_message allows {}".format(
                    len(body) >> 20, self._largest >> 20
                )
            )
        with self._sending:
            if self._flushing:
                raise RuntimeError("a signal handler that interrupted a call of Halite cannot call Halite itself")
            self._outbox += struct.pack(">I", len(body))
            self._outbox += body
            self._flush()

    def _flush(self):
        self._flushing = True
        try:
            view = memoryview(bytes(self._outbox))
            done = 0
            while done < len(view):
                done += os.write(self._fd, view[done:done + 1048576])
        except ConnectionError:
            self._die()
        finally:
            self._flushing = False
            del self._outbox[:done]

    def call(self, *message):
        """Sends a question and waits for its answer: `(kind, value)`."""
        with self._arrived:
            self._last += 1
            number = self._last
            self._waiting.add(number)
        try:
            self.send([message[0], number] + list(message[1:]))
            return self._wait(number)
        finally:
            with self._arrived:
                self._waiting.discard(number)
                self._replies.pop(number, None)

    def serve(self):
        """Executes what arrives, for ever."""
        while self.own:
            self._wait(None)
        os._exit(0)

    def _wait(self, number):
        while True:
            message = None
            with self._arrived:
                while True:
                    if number is not None and number in self._replies:
                        return self._replies.pop(number)
                    if self._queue:
                        message = self._queue.popleft()
                        break
                    if not self._reading:
                        self._reading = True
                        break
                    self._arrived.wait()
            if message is not None:
                self._execute(message)
            else:
                self._read_one()
            if number is None:
                return None

    def _read_one(self):
        message = None
        try:
            message = self._read()
        finally:
            with self._arrived:
                self._reading = False
                if message is not None:
                    self._sort(message)
                self._arrived.notify_all()

    def _sort(self, message):
        kind, number = message[0], message[1] if len(message) > 1 else None
        if kind not in ("reply", "failure"):
            self._queue.append(message)
        elif number in self._waiting:
            self._replies[number] = (kind, message[2])

    def _piece(self):
        try:
            return os.read(self._fd, 262144)
        except ConnectionError:
            return b""

    def _read(self):
        while True:
            if len(self._inbox) >= 4:
                size = struct.unpack(">I", bytes(self._inbox[:4]))[0]
                if len(self._inbox) >= size + 4:
                    body = bytes(self._inbox[4:size + 4])
                    del self._inbox[:size + 4]
                    return values.loads(body.decode("utf-8"))
            piece = self._piece()
            if not piece:
                self._die()
            self._inbox += piece
