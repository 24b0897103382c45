// Names of exceptions that `test.raise_exception` can raise.

/** Python's built-in exceptions. */
export const builtinExceptions: ReadonlySet<string> = new Set([
  ...[
    'ArithmeticError',
    'AssertionError',
    'AttributeError',
    'BaseExceptionGroup',
    'BlockingIOError',
    'BrokenPipeError',
  ],
  ...['BufferError', 'BytesWarning', 'ChildProcessError', 'ConnectionAbortedError', 'ConnectionError'],
  ...['ConnectionRefusedError', 'ConnectionResetError', 'DeprecationWarning', 'EOFError', 'EncodingWarning'],
  ...['EnvironmentError', 'Exception', 'ExceptionGroup', 'FileExistsError', 'FileNotFoundError', 'FloatingPointError'],
  ...['FutureWarning', 'GeneratorExit', 'IOError', 'ImportError', 'ImportWarning', 'IndentationError', 'IndexError'],
  ...['InterruptedError', 'IsADirectoryError', 'KeyError', 'KeyboardInterrupt', 'LookupError', 'MemoryError'],
  ...['ModuleNotFoundError', 'NameError', 'NotADirectoryError', 'NotImplementedError', 'OSError', 'OverflowError'],
  ...['PendingDeprecationWarning', 'PermissionError', 'ProcessLookupError', 'RecursionError', 'ReferenceError'],
  ...['ResourceWarning', 'RuntimeError', 'RuntimeWarning', 'StopAsyncIteration', 'StopIteration', 'SyntaxError'],
  ...['SyntaxWarning', 'SystemError', 'SystemExit', 'TabError', 'TimeoutError', 'TypeError', 'UnboundLocalError'],
  ...['UnicodeDecodeError', 'UnicodeEncodeError', 'UnicodeError', 'UnicodeTranslateError', 'UnicodeWarning'],
  ...['UserWarning', 'ValueError', 'Warning', 'ZeroDivisionError'],
]);

/** Salt's own exceptions, without the `salt.exceptions.` before them. */
export const saltExceptions: ReadonlySet<string> = new Set([
  ...['AuthenticationError', 'AuthorizationError', 'CheckError', 'CommandExecutionError', 'CommandNotFoundError'],
  ...['EauthAuthenticationError', 'FileLockError', 'FileserverConfigError', 'GitLockError', 'LoaderError'],
  ...[
    'LoggingRuntimeError',
    'MasterExit',
    'MinionError',
    'MissingSmb',
    'PkgParseError',
    'PublishError',
    'SaltCacheError',
  ],
  ...['SaltClientError', 'SaltClientTimeout', 'SaltConfigurationError', 'SaltDaemonNotRunning', 'SaltException'],
  ...[
    'SaltInvocationError',
    'SaltMasterError',
    'SaltMasterUnresolvableError',
    'SaltRenderError',
    'SaltReqTimeoutError',
  ],
  ...[
    'SaltRunnerError',
    'SaltSyndicMasterError',
    'SaltSystemExit',
    'SaltWheelError',
    'TemplateError',
    'TimedProcTimeoutError',
  ],
  ...['TimeoutError', 'TokenAuthenticationError', 'UnsupportedSaltVersion'],
]);
