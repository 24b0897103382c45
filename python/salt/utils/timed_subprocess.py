"""Programs with a time limit."""
import shlex
import subprocess


class TimedProc:
    """Like Popen, with `timeout`, `stdout` and `stderr` as results."""

    def __init__(self, args, **kwargs):
        self.timeout = kwargs.pop("timeout", None)
        self.stdin = kwargs.pop("stdin", None)
        kwargs.pop("with_communicate", None)
        if self.stdin is not None:
            kwargs["stdin"] = subprocess.PIPE
            self.stdin = self.stdin.encode("utf-8") if isinstance(self.stdin, str) else self.stdin
        kwargs.setdefault("stdout", subprocess.PIPE)
        kwargs.setdefault("stderr", subprocess.PIPE)
        if isinstance(args, str) and not kwargs.get("shell"):
            args = shlex.split(args)
        self.command = args
        self.process = subprocess.Popen(args, **kwargs)
        self.stdout = self.stderr = None

    def run(self):
        try:
            self.stdout, self.stderr = self.process.communicate(self.stdin, self.timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
            from salt.exceptions import TimedProcTimeoutError

            raise TimedProcTimeoutError("{} : Timed out after {} seconds".format(self.command, self.timeout))
        return self.process.returncode
