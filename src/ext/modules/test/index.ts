// Execution module `test`: checks that the minion answers and that arguments and errors are passed correctly.

import { createHash, getHashes, randomInt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import {
  cleanKwargs,
  defineModule,
  fn,
  newDict,
  type PlainDict,
  PyFloat,
  p,
  pyInt,
  pyRepr,
  pyTypeName,
  pythonError,
  type Value,
} from 'halite/sdk';
import { installation, saltVersion } from '../../shared/software/version.ts';
import { versionsInformation, versionsReport } from '../shared/versions-report.ts';
import { allArguments, failures, reprTuple } from './failures.ts';

/** Modules whose file in Salt has another name. */
const providerFiles: Readonly<Record<string, string>> = {
  cmd: 'cmdmod',
  group: 'groupadd',
  log: 'logmod',
  pkg: 'aptpkg',
  random: 'mod_random',
  service: 'systemd_service',
  sys: 'sysmod',
  user: 'useradd',
};
const providerOf = (module: string): string =>
  Object.hasOwn(providerFiles, module) ? (providerFiles[module] as string) : module;

const typeText = (value: Value): string =>
  `<class '${value instanceof Date ? 'datetime.datetime' : pyTypeName(value)}'>`;
const seconds = (since: number): number => (performance.now() - since) / 1000;

function randomHash(size: number, type: Value, opts: Readonly<Record<string, Value>>): string {
  const name = String(type || opts['hash_type'] || 'sha256');
  if (!getHashes().includes(name)) throw pythonError('AttributeError', `module 'hashlib' has no attribute '${name}'`);
  return createHash(name)
    .update(String(randomInt(Math.min(size, 2 ** 47) + 1)))
    .digest('hex');
}

const answers = {
  ping: fn({
    doc: 'Returns True, which shows that the minion is up and accepts jobs. It does not use ICMP. On a proxy its device answers.',
    examples: ["salt '*' test.ping"],
    inline: true,
    run: (_, ctx) => ctx.proxy?.call('ping') ?? true,
  }),
  echo: fn({
    doc: 'Returns the given text.',
    examples: ["salt '*' test.echo 'foo bar baz quo qux'"],
    params: { text: p.any({ doc: 'the text to return' }) },
    inline: true,
    run: ({ text }) => text,
  }),
  true: fn({ doc: 'Always True.', examples: ["salt '*' test.true"], inline: true, run: () => true }),
  false: fn({ doc: 'Always False.', examples: ["salt '*' test.false"], inline: true, run: () => false }),
  outputter: fn({
    doc: 'Returns the given data, to test outputters.',
    examples: ["salt '*' test.outputter foobar"],
    params: { data: p.any({ doc: 'the text to return' }) },
    inline: true,
    run: ({ data }) => data,
  }),
  retcode: fn({
    doc: 'Ends the job with a return code.',
    examples: ["salt '*' test.retcode 42"],
    params: { code: p.scalar({ default: 42 }) },
    inline: true,
    run({ code }, ctx) {
      ctx.setRetcode(pyInt(code));
      return true;
    },
  }),
  sleep: fn({
    doc: 'Waits for a number of seconds and returns True.',
    examples: ["salt '*' test.sleep 20"],
    params: { length: p.scalar() },
    async run({ length }, ctx) {
      await pause(pyInt(length) * 1000, undefined, { signal: ctx.signal });
      return true;
    },
  }),
  rand_sleep: fn({
    doc: 'Waits for a random number of seconds, so that minions answer at different times.',
    examples: ["salt '*' test.rand_sleep 60"],
    params: { max: p.int({ default: 60 }) },
    async run({ max }, ctx) {
      await pause(randomInt(max + 1) * 1000, undefined, { signal: ctx.signal });
      return true;
    },
  }),
};

const both = (args: Value, kwargs: Value): PlainDict =>
  newDict([
    ['args', args],
    ['kwargs', kwargs],
  ]);

const argumentTests = {
  arg: fn({
    doc: 'Returns the received positional and keyword arguments, with the data that the minion adds about the job.',
    examples: [`salt '*' test.arg 1 "two" 3.1 txt="hello" wow='{a: 1, b: "hello"}'`],
    params: allArguments,
    inline: true,
    run: ({ args, kwargs }) => both(args, kwargs),
  }),
  kwarg: fn({
    doc: 'Returns the received keyword arguments.',
    examples: [`salt '*' test.kwarg num=1 txt="two" env='{a: 1, b: "hello"}'`],
    params: { kwargs: p.kwargs() },
    inline: true,
    run: ({ kwargs }) => kwargs,
  }),
  arg_type: fn({
    doc: 'Returns the Python type of each argument.',
    examples: ["salt '*' test.arg_type 1 'int'"],
    params: allArguments,
    inline: true,
    run({ args, kwargs }) {
      const named = newDict(Object.entries(kwargs).map(([key, value]) => [key, typeText(value)]));
      return both(args.map(typeText), named);
    },
  }),
  arg_repr: fn({
    doc: 'Returns the arguments as Python source code.',
    examples: [`salt '*' test.arg_repr 1 "two" 3.1 txt="hello" wow='{a: 1, b: "hello"}'`],
    params: allArguments,
    inline: true,
    run: ({ args, kwargs }) => both(reprTuple(args), pyRepr(kwargs)),
  }),
  arg_clean: fn({
    doc: 'Like test.arg, without the data that the minion adds.',
    examples: [`salt '*' test.arg_clean 1 "two" 3.1 txt="hello" wow='{a: 1, b: "hello"}'`],
    params: allArguments,
    inline: true,
    run: ({ args, kwargs }) => both(args, cleanKwargs(kwargs)),
  }),
};

const computing = {
  fib: fn({
    doc: 'The given Fibonacci number and the seconds it took.',
    examples: ["salt '*' test.fib 3"],
    params: { num: p.scalar() },
    run({ num }) {
      const count = pyInt(num);
      if (count < 0) throw pythonError('ValueError', 'Negative number is not allowed!');
      const start = performance.now();
      let [previous, current] = [0n, count === 0 ? 0n : 1n];
      for (let i = 1; i < count; i++) [previous, current] = [current, previous + current];
      return [current <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(current) : current, seconds(start)];
    },
  }),
  collatz: fn({
    doc: 'The Collatz sequence from a number down to 1, and the seconds it took.',
    examples: ["salt '*' test.collatz 3"],
    params: { start: p.scalar() },
    run({ start }) {
      let now = pyInt(start);
      if (now < 1) throw pythonError('ValueError', 'Only positive numbers lead to 1');
      const begin = performance.now();
      const steps: Value[] = [];
      let halved = false; // Python's division makes every later number a float.
      while (now !== 1) {
        steps.push(halved ? new PyFloat(now) : now);
        halved ||= now % 2 === 0;
        now = now % 2 === 0 ? now / 2 : now * 3 + 1;
      }
      return [steps, seconds(begin)];
    },
  }),
  random_hash: fn({
    doc: 'A hash of a random number.',
    examples: ["salt '*' test.random_hash", "salt '*' test.random_hash hash_type=sha512"],
    params: {
      size: p.int({ default: 9999999999, doc: 'largest number that may be hashed' }),
      hash_type: p.string({ default: null, doc: 'algorithm; the hash_type option of the minion when not given' }),
    },
    run: ({ size, hash_type }, ctx) => randomHash(size, hash_type, ctx.opts),
  }),
  rand_str: fn({
    doc: 'Older name of test.random_hash.',
    examples: ["salt '*' test.rand_str"],
    params: { size: p.int({ default: 9999999999 }), hash_type: p.string({ default: null }) },
    run: ({ size, hash_type }, ctx) => randomHash(size, hash_type, ctx.opts),
  }),
};

const about = {
  version: fn({
    doc: 'The version of Salt this minion is compatible with, followed by the version of Halite.',
    examples: ["salt '*' test.version"],
    inline: true,
    run: () => `${saltVersion}+halite.${installation().version}`,
  }),
  versions_information: fn({
    doc: 'Versions of Halite, its libraries and the system, as data.',
    examples: ["salt '*' test.versions_information"],
    run: (_, ctx) => versionsInformation(ctx.grains),
  }),
  versions_report: fn({
    doc: 'Versions of Halite, its libraries and the system, as text.',
    examples: ["salt '*' test.versions_report"],
    run: (_, ctx) => versionsReport(ctx.grains),
  }),
  conf_test: fn({
    doc: 'The value of test.foo in the minion configuration, or its default.',
    examples: ["salt '*' test.conf_test"],
    run: (_, ctx) => ctx.call('config.option', 'test.foo'),
  }),
  get_opts: fn({
    doc: 'All options of this minion.',
    examples: ["salt '*' test.get_opts"],
    run: (_, ctx) => newDict(Object.entries(ctx.opts)),
  }),
  opts_pkg: fn({
    doc: 'All options of this minion, and its grains.',
    examples: ["salt '*' test.opts_pkg"],
    run: (_, ctx) => newDict([...Object.entries(ctx.opts), ['grains', ctx.grains]]),
  }),
  attr_call: fn({
    doc: 'Calls grains.items from within a function.',
    examples: ["salt '*' test.attr_call"],
    run: (_, ctx) => ctx.call('grains.items'),
  }),
  cross_test: fn({
    doc: 'Calls another function from within this one.',
    examples: ["salt '*' test.cross_test file.gid_to_group 0"],
    params: {
      func: p.string(),
      args: p.any({ default: null, doc: 'list of arguments, or the only one, of any kind' }),
    },
    run: ({ func, args }, ctx) => ctx.call(func, ...(Array.isArray(args) ? args : args === null ? [] : [args])),
  }),
};

const loaded = {
  provider: fn({
    doc: 'The file that provides a module here: `pkg` is `aptpkg` on Debian. Empty text when there is no such module.',
    examples: ["salt '*' test.provider service"],
    params: { module: p.string() },
    async run({ module }, ctx) {
      return (await ctx.registry.moduleNames('modules')).includes(module) ? providerOf(module) : '';
    },
  }),
  providers: fn({
    doc: 'Files and the module each provides.',
    examples: ["salt '*' test.providers"],
    async run(_, ctx) {
      return newDict((await ctx.registry.moduleNames('modules')).map((name) => [providerOf(name), name]));
    },
  }),
  not_loaded: fn({
    doc: 'Modules that are not available on this system.',
    examples: ["salt '*' test.not_loaded"],
    async run(_, ctx) {
      const working = new Set(await ctx.registry.moduleNames('modules'));
      return Object.keys(providerFiles)
        .filter((name) => !working.has(name))
        .map(providerOf)
        .sort();
    },
  }),
  module_report: fn({
    doc: 'All available functions and modules, by each of their names.',
    examples: ["salt '*' test.module_report"],
    async run(_, ctx) {
      const functions = await ctx.registry.functionNames('modules');
      const modules = await ctx.registry.moduleNames('modules');
      const report: PlainDict = newDict([
        ['functions', functions],
        ['function_attrs', functions],
        ['function_subs', functions],
        ['modules', modules],
        ['module_attrs', modules],
        ['missing_attrs', []],
        ['missing_subs', []],
      ]);
      return report;
    },
  }),
};

export default defineModule({
  name: 'test',
  doc: 'Checks that minions answer, and how arguments, errors and return codes are passed.',
  reads: [
    'ping',
    'echo',
    'true',
    'false',
    'outputter',
    'retcode',
    'arg',
    'kwarg',
    'arg_type',
    'arg_repr',
    'arg_clean',
    'fib',
    'collatz',
    'random_hash',
    'rand_str',
    'exception',
    'raise_exception',
    'assertion',
    'version',
    'versions_information',
    'versions_report',
    'get_opts',
    'provider',
    'providers',
    'not_loaded',
    'sleep',
    'rand_sleep',
  ],
  functions: { ...answers, ...argumentTests, ...computing, ...failures, ...about, ...loaded },
  aliases: { versions: 'versions_report' },
});
