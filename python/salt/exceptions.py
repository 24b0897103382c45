"""Salt's exception classes, with its hierarchy."""


class SaltException(Exception):
    """The base of all; `message` is kept beside Python's own `args`."""

    def __init__(self, message=""):
        if not isinstance(message, str):
            message = str(message)
        super().__init__(message)
        self.message = self.strerror = message

    def pack(self):
        return {"message": str(self), "args": self.args}


class CommandExecutionError(SaltException):
    """A function could not do what it was asked to; `info` is structured data about it."""

    def __init__(self, message="", info=None):
        self.error = exc_str_prefix = message if isinstance(message, str) else str(message)
        self.info = info
        if info:
            try:
                if not exc_str_prefix.endswith(("?", "!", ".", ":", ";")):
                    exc_str_prefix += "."
                exc_str_prefix += " Additional info follows:\n\n" + _shown(info)
            except Exception:
                exc_str_prefix += str(info)
        self._text = exc_str_prefix
        super().__init__(exc_str_prefix)


def _shown(info):
    import json

    return info if isinstance(info, str) else json.dumps(info, indent=4, default=str)


class LoggingRuntimeError(RuntimeError):
    pass


class SaltReqTimeoutError(SaltException):
    pass


class SaltClientTimeout(SaltException):
    def __init__(self, message, jid=None, *args, **kwargs):
        super().__init__(message)
        self.jid = jid


class TemplateError(SaltException):
    pass


class SaltRenderError(SaltException):
    def __init__(self, message="", line_num=None, buf="", marker="    <======================", trace=None):
        text = message if isinstance(message, str) else str(message)
        if line_num and buf:
            lines = buf.splitlines()
            first = max(line_num - 5, 0)
            shown = [
                line + (marker if at == line_num else "")
                for at, line in enumerate(lines[first:line_num + 5], first + 1)
            ]
            text += "; line {}\n\n---\n{}\n---".format(line_num, "\n".join(shown))
        super().__init__(text)
        self.line_num = line_num
        self.buffer = buf


class SaltSystemExit(SystemExit):
    def __init__(self, code=0, msg=None):
        SystemExit.__init__(self, msg)
        self.code = code


def _make(name, base):
    return type(name, (base,), {"__module__": __name__, "__doc__": None})


_TREE = {
    SaltException: (
        "AuthenticationError", "AuthorizationError", "UnsupportedAlgorithm", "UrlError", "PublishError",
        "SaltMasterUnresolvableError", "SaltMasterError", "SaltSyndicMasterError", "SaltDaemonNotRunning",
        "SaltRunnerError", "SaltWheelError", "SaltConfigurationError", "SaltDeserializationError", "SaltCacheError",
        "SaltCloudException", "SaltInvocationError", "FileserverConfigError", "FileLockError", "PillarRenderError",
        "MinionError", "MasterExit", "PkgParseError", "PermissionsDenied", "EauthAuthenticationError",
        "TokenAuthenticationError", "TokenExpiredError", "NotImplemented", "CommandNotFoundError_",
        "TimedProcTimeoutError", "VMwareSaltError", "GitLockError", "GitRemoteError", "SaltReqTimeout",
        "ArgumentValueError", "CheckError", "InvalidConfigError", "InvalidKeyError", "InvalidEntityError",
        "NoRequisite", "GetPeerKeyError", "UnsupportedTransport", "JobDoesNotExist", "ProxyError", "ResourceNotFound",
        "TransportError", "CreateConfigError", "PacketFormatError", "SaltValidationError", "CryptographyError",
        "TimeoutError", "LoaderError", "MissingSmb", "SaltPicklingError", "DuplicateKeyError",
    ),
    CommandExecutionError: ("CommandNotFoundError", "TimedProcTimeout", "FileserverException", "InstallError_"),
}
for _base, _names in _TREE.items():
    for _name in _names:
        if not _name.endswith("_"):
            globals().setdefault(_name, _make(_name, _base))

SaltClientError = _make("SaltClientError", SaltException)
SaltAuthenticationError = AuthenticationError  # noqa: F821
MasterExit = type("MasterExit", (SystemExit,), {"__module__": __name__})
NotImplemented = _make("NotImplemented", SaltException)
PasswdFileError = _make("PasswdFileError", SaltException)
SaltCloudSystemExit = _make("SaltCloudSystemExit", SaltCloudException)  # noqa: F821
SaltCloudConfigError = _make("SaltCloudConfigError", SaltCloudException)  # noqa: F821
SaltCloudNotFound = _make("SaltCloudNotFound", SaltCloudException)  # noqa: F821
SaltCloudExecutionTimeout = _make("SaltCloudExecutionTimeout", SaltCloudException)  # noqa: F821
SaltCloudExecutionFailure = _make("SaltCloudExecutionFailure", SaltCloudException)  # noqa: F821
SaltCloudPasswordError = _make("SaltCloudPasswordError", SaltCloudException)  # noqa: F821
SaltConfigurationError = globals()["SaltConfigurationError"]


def get_error_message(error):
    """The text of an exception."""
    return error.args[0] if getattr(error, "args", None) else ""
