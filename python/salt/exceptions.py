"""Salt's exception classes, with its hierarchy."""
import time

from salt.defaults import exitcodes


class SaltException(Exception):
    """The base of all; `message` is kept beside Python's own `args`."""

    def __init__(self, message=""):
        text = message if isinstance(message, str) else str(message)
        super().__init__(text)
        self.message = self.strerror = text

    def pack(self):
        return {"message": str(self), "args": self.args}


def _text(message):
    return bytes(message).decode("utf-8") if isinstance(message, (bytes, bytearray)) else str(message)


class CommandExecutionError(SaltException):
    """A function could not do what it was asked to; `info` is structured data about it."""

    def __init__(self, message="", info=None):
        self.error = _text(message)
        self.info = info
        text = self.strerror_without_changes = self.error
        if info:
            stop = "" if not text else " " if text[-1] in ".?!" else ". "
            start = text + stop + "Additional info follows:\n\n"
            text = self.strerror_without_changes = start + _nested(info)
            if isinstance(info, dict):
                others = {key: value for key, value in info.items() if key != "changes"}
                self.strerror_without_changes = start + _nested(others) if others else self.error
        super().__init__(text)


def _nested(info):
    from salt.output.nested import output

    return output(info).rstrip()


class LoggingRuntimeError(RuntimeError):
    pass


class SaltInvocationError(SaltException, TypeError):
    """Wrong arguments: also Python's own kind of it."""


class InvalidKeyError(SaltException, ValueError):
    pass


class MasterExit(SystemExit):
    pass


class SaltClientTimeout(SaltException):
    def __init__(self, message, jid=None, *args, **kwargs):
        super().__init__(message, *args, **kwargs)
        self.jid = jid


class FileLockError(SaltException):
    def __init__(self, message, time_start=None, *args, **kwargs):
        super().__init__(message, *args, **kwargs)
        self.time_start = time.time() if time_start is None else time_start


class GitLockError(SaltException):
    def __init__(self, errno, message, *args, **kwargs):
        super().__init__(message, *args, **kwargs)
        self.errno = errno


class SaltRenderError(SaltException):
    """With a line number and the text, that place is shown."""

    def __init__(self, message, line_num=None, buf="", marker="    <======================", trace=None):
        self.error = message
        self.line_num, self.buffer, self.context = line_num, buf, ""
        text = _text(message)
        if trace:
            text += "\n{}\n".format(trace)
        if line_num and buf:
            from salt.utils.stringutils import get_context

            self.context = get_context(buf, line_num, marker=marker)
            text += "; line {}\n\n{}".format(line_num, self.context)
        super().__init__(text)


class SaltSystemExit(SystemExit):
    def __init__(self, code=0, msg=None):
        super().__init__(msg)


class SaltCloudException(SaltException):
    pass


class SaltCloudSystemExit(SaltCloudException):
    def __init__(self, message, exit_code=exitcodes.EX_GENERIC):
        super().__init__(message)
        self.message = message
        self.exit_code = exit_code


# Classes that have nothing of their own, after the class that they extend.
_TREE = (
    ("SaltException", "SaltClientError SaltMasterError SaltNoMinionsFound SaltSyndicMasterError SaltMasterUnresolvableError "
                      "AuthenticationError CommandNotFoundError LoaderError PublishError MinionError FileserverConfigError "
                      "GitRemoteError PkgParseError SaltCacheError TimeoutError SaltReqTimeoutError TimedProcTimeoutError "
                      "EauthAuthenticationError TokenAuthenticationError SaltDeserializationError AuthorizationError "
                      "SaltValidationError UnsupportedAlgorithm SaltDaemonNotRunning SaltRunnerError SaltWheelError "
                      "SaltConfigurationError NotImplemented TemplateError MissingSmb NxosError"),
    ("SaltException", "UrlError FileserverException PillarRenderError PermissionsDenied TokenExpiredError CryptographyError "
                      "GetPeerKeyError UnsupportedTransport JobDoesNotExist ProxyError ResourceNotFound TransportError "
                      "CreateConfigError PacketFormatError NoRequisite PasswdFileError"),
    ("CommandExecutionError", "ArgumentValueError CheckError CodePageError InvalidConfigError InvalidEntityError VMwareSaltError"),
    ("SaltCloudException", "SaltCloudConfigError SaltCloudNotFound SaltCloudExecutionTimeout SaltCloudExecutionFailure "
                           "SaltCloudPasswordError"),
    ("VMwareSaltError", "VMwareApiError VMwareConnectionError VMwareNotFoundError VMwareObjectExistsError VMwareObjectNotFoundError VMwareObjectRetrievalError "
                        "VMwarePowerOnError VMwareRuntimeError VMwareSystemError VMwareVmCreationError VMwareVmRegisterError"),
    ("VMwareApiError", "VMwareFileNotFoundError"),
    ("VMwareObjectRetrievalError", "VMwareMultipleObjectsError"),
    ("NxosError", "NxosCliError NxosClientError NxosRequestNotSupported"),
)
for _base, _names in _TREE:
    for _name in _names.split():
        globals()[_name] = type(_name, (globals()[_base],), {"__module__": __name__})


def get_error_message(error):
    """The text of an exception."""
    return error.args[0] if error.args else ""
