import {
  cleanKwargs,
  commandError,
  fn,
  invocationError,
  messageOf,
  p,
  pyRepr,
  pyStr,
  pythonError,
  type Value,
} from 'halite/sdk';
import { builtinExceptions, saltExceptions } from '../shared/python-exceptions.ts';

/** Operating system errors, which show number, text and file. */
export const allArguments = { args: p.rest(), kwargs: p.kwargs() };

const systemError =
  /^(?:OS|IO|Environment|BlockingIO|ChildProcess|BrokenPipe|Connection\w*|FileExists|FileNotFound|Interrupted|IsADirectory|NotADirectory|Permission|ProcessLookup|Timeout)Error$/;

function messageFor(name: string, args: readonly Value[]): string {
  if (args.length < 2) return args.length === 0 ? '' : String(args[0]);
  if (!systemError.test(name)) return reprTuple(args);
  const [number = null, text = null, file] = args;
  return `[Errno ${pyStr(number)}] ${pyStr(text)}${file === undefined || file === null ? '' : `: ${pyRepr(file)}`}`;
}

function raiseByName(name: string, args: readonly Value[]): never | false {
  const message = messageFor(name, args);
  const own = name.startsWith('salt.exceptions.') ? name.slice('salt.exceptions.'.length) : undefined;
  if (own === 'CommandExecutionError') throw commandError(message);
  if (own === 'SaltInvocationError') throw invocationError(message);
  if (own !== undefined && saltExceptions.has(own)) throw pythonError(name, message);
  if (builtinExceptions.has(name)) throw pythonError(name, message);
  return false;
}

export const failures = {
  exception: fn({
    doc: 'Fails with an exception.',
    examples: ["salt '*' test.exception 'something broke'"],
    params: { message: p.string({ default: 'Test Exception' }) },
    run({ message }) {
      throw pythonError('Exception', message);
    },
  }),
  raise_exception: fn({
    doc: 'Fails with an exception of the given name: one of Python, or of Salt. False when there is none of that name.',
    examples: [
      `salt '*' test.raise_exception TypeError "An integer is required"`,
      `salt '*' test.raise_exception salt.exceptions.CommandExecutionError "Something went wrong"`,
    ],
    params: { name: p.string(), args: p.rest(), kwargs: p.kwargs() },
    run({ name, args }, ctx) {
      raiseByName(name, args);
      ctx.log.error('no such exception', { name });
      return false;
    },
  }),
  assertion: fn({
    doc: 'Fails when the argument is not true.',
    examples: ["salt '*' test.assertion False"],
    params: { assertion: p.truthy() },
    run({ assertion }) {
      if (!assertion) throw pythonError('AssertionError', '');
      return null;
    },
  }),
  try: fn({
    doc: 'Runs a function and returns None instead of failing; with return_try_exception the message of the failure.',
    examples: ["salt '*' test.try module=network.interfaces"],
    params: { module: p.string(), return_try_exception: p.bool({ default: false }), kwargs: p.kwargs() },
    async run({ module, return_try_exception, kwargs }, ctx) {
      try {
        return await ctx.callWith(module, [], cleanKwargs(kwargs));
      } catch (error) {
        return return_try_exception ? messageOf(error) : null;
      }
    },
  }),
  stack: fn({
    doc: 'The chain of calls that led here.',
    examples: ["salt '*' test.stack"],
    run: () => new Error('stack').stack?.split('\n').slice(1).join('\n') ?? '',
  }),
  deprecation_warning: fn({
    doc: 'Returns True and logs two deprecation warnings.',
    examples: ["salt '*' test.deprecation_warning"],
    run(_, ctx) {
      ctx.log.warn('This is a test deprecation warning by version.');
      ctx.log.warn('This is a test deprecation warning by date very far into the future (3000-01-01).');
      return true;
    },
  }),
  tty: fn({
    doc: 'Moved to cmd.tty; only returns a message.',
    examples: ["salt '*' test.tty tty0 'This is a test'"],
    params: allArguments,
    run: () => 'ERROR: This function has been moved to cmd.tty',
  }),
};

export const reprTuple = (items: readonly Value[]): string =>
  `(${items.map(pyRepr).join(', ')}${items.length === 1 ? ',' : ''})`;
