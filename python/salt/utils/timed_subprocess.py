"""Programs with a time limit."""
import shlex
import subprocess


class TimedProc:
    """Popen with `timeout`, the text `stdin`, and `stdout` and `stderr` as results."""

    def __init__(self, args, **kwargs):
        from salt.exceptions import TimedProcTimeoutError

        from .stringutils import to_bytes

        self.wait = not kwargs.pop("bg", False)
        self.timeout = kwargs.pop("timeout", None)
        self.stdin = kwargs.pop("stdin", None)
        self.with_communicate = kwargs.pop("with_communicate", self.wait) and self.wait
        raw = kwargs.pop("stdin_raw_newlines", False)
        if not self.wait:
            self.stdin = kwargs["stdin"] = None
        elif self.stdin is not None:
            self.stdin = to_bytes(self.stdin if raw else self.stdin.replace("\\n", "\n"))
            kwargs["stdin"] = subprocess.PIPE
        if not self.with_communicate:
            kwargs["stdout"] = kwargs["stderr"] = None
        if self.timeout and not isinstance(self.timeout, (int, float)):
            raise TimedProcTimeoutError("Error: timeout {} must be a number".format(self.timeout))
        self.stdout = self.stderr = None
        self.command = args
        try:
            self.process = subprocess.Popen(args, **kwargs)
        except (AttributeError, TypeError):
            self._start_with_texts(args, kwargs)

    def _start_with_texts(self, args, kwargs):
        """The command or its variables have numbers in them."""
        words = args if isinstance(args, (list, tuple)) or kwargs.get("shell") else shlex.split(str(args))
        self.command = [str(word) for word in words] if isinstance(words, (list, tuple)) else str(words)
        if kwargs.get("env"):
            kwargs["env"] = {str(key): str(value) for key, value in kwargs["env"].items()}
        self.process = subprocess.Popen(self.command, **kwargs)

    def run(self):
        from salt.exceptions import TimedProcTimeoutError

        try:
            if self.with_communicate:
                self.stdout, self.stderr = self.process.communicate(self.stdin, self.timeout or None)
            elif self.wait:
                self.process.wait(self.timeout or None)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise TimedProcTimeoutError("{} : Timed out after {} seconds".format(self.command, self.timeout))
        return self.process.returncode
