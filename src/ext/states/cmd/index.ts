// State module `cmd`: runs commands and scripts, depending on conditions.

import {
  defineState,
  dictEntries,
  isDict,
  messageOf,
  newDict,
  onlyReads,
  type PlainDict,
  p,
  pyStr,
  type StateContext,
  type StateResult,
  state,
  type Value,
} from 'halite/sdk';
import { stat } from 'halite/sdk/fs';
import { reinterpret } from './stateful.ts';

const shared = {
  name: p.string({ doc: 'the command line' }),
  cwd: p.string({ default: null, doc: 'folder to run in' }),
  root: p.string({ default: null, doc: 'root folder for the command' }),
  runas: p.scalar({ default: null, doc: 'user to run as' }),
  password: p.ignored({ default: null, doc: 'Windows only' }),
  shell: p.string({ default: null, doc: 'shell that reads the line; the grain `shell` when not given' }),
  env: p.oneOf(['dict', 'list', 'string'], {
    default: null,
    doc: 'environment variables: a dictionary or a list of one-key dictionaries',
  }),
  prepend_path: p.scalar({ default: null, doc: 'folders put before PATH' }),
  stateful: p.oneOf(['bool', 'list', 'dict', 'string'], {
    default: false,
    nullable: true,
    doc: 'the last line of output (`changed=yes comment="…"`) or JSON reports the outcome; `test_name` runs under test=True',
  }),
  output_loglevel: p.string({ default: 'debug', doc: 'level at which output is logged' }),
  hide_output: p.scalar({ default: false, nullable: true, doc: 'hide the output in the result' }),
  timeout: p.scalar({ default: null, doc: 'seconds after which the command is killed' }),
  ignore_timeout: p.scalar({
    default: false,
    nullable: true,
    doc: 'a command that was killed by its timeout counts as success',
  }),
  use_vt: p.ignored({ default: false, doc: 'accepted' }),
  success_retcodes: p.oneOf(['list', 'string'], { default: null, doc: 'return codes that count as 0' }),
  success_stdout: p.oneOf(['list', 'string'], { default: null, doc: 'texts in the output that make it a success' }),
  success_stderr: p.oneOf(['list', 'string'], {
    default: null,
    doc: 'texts in the error output that make it a success',
  }),
  kwargs: p.kwargs({ doc: 'further options of cmd.run_all' }),
};

const pick = <K extends keyof typeof shared>(...names: K[]): Pick<typeof shared, K> =>
  Object.fromEntries(names.map((name) => [name, shared[name]])) as Pick<typeof shared, K>;

type Args = Readonly<Record<string, Value>>;

interface Stateful {
  readonly on: boolean;
  readonly testName: string | undefined;
}

function statefulOf(value: Value): Stateful {
  if (!Array.isArray(value)) return { on: value === true, testName: undefined };
  const first = value[0];
  const entry =
    first !== undefined && isDict(first) ? dictEntries(first).find(([key]) => key === 'test_name') : undefined;
  return { on: value.length > 0, testName: entry ? pyStr(entry[1]) : undefined };
}

const isFolder = async (path: string): Promise<boolean> =>
  (await stat(path).catch(() => undefined))?.isDirectory() ?? false;

const shellOf = (args: Args, ctx: StateContext): Value => {
  const grain = ctx.grains instanceof Map ? ctx.grains.get('shell') : ctx.grains['shell'];
  return args['shell'] || (grain ?? null);
};

/** Options of the execution function: declared and additional arguments. */
function optionsOf(args: Args, names: readonly string[], more: PlainDict): PlainDict {
  const options = newDict(Object.entries((args['kwargs'] ?? {}) as PlainDict));
  for (const name of names) options[name] = args[name] ?? null;
  return Object.assign(options, more);
}

function invalidEnv(args: Args, ctx: StateContext): StateResult | undefined {
  const env = args['env'] ?? null;
  if (env === null || Array.isArray(env) || isDict(env)) return undefined;
  return ctx.fail("Invalidly-formatted 'env' parameter. See documentation.");
}

const isEmpty = (value: Value | undefined): boolean =>
  value === undefined || value === null || (isDict(value) && dictEntries(value).length === 0);

/** The result of a command that ran. */
function judge(
  ctx: StateContext,
  name: string,
  all: PlainDict,
  comment: string,
  stateful: Stateful,
  args: Args,
): StateResult {
  let result = ctx.result({ name, changes: all, result: !all['retcode'], comment });
  if (args['ignore_timeout'] && all['retcode'] === 1 && pyStr(all['stdout'] ?? '').includes('Timed out after')) {
    all['retcode'] = 0;
    result.result = true;
  }
  if (stateful.on) result = reinterpret(result);
  if (ctx.test && all['retcode'] === 0 && !isEmpty(result.changes)) result.result = null;
  return result;
}

async function run(given: string, args: Args, ctx: StateContext): Promise<StateResult> {
  const stateful = statefulOf(args['stateful'] ?? false);
  // A stateful command may have another one that is run under test.
  const name = ctx.test && stateful.testName !== undefined ? stateful.testName : given;
  const wrong = invalidEnv(args, ctx);
  if (wrong) return wrong;
  if (ctx.test && stateful.testName === undefined) {
    const comment = `Command "${name}" would have been executed`;
    const planned = ctx.result({ name: given, result: null, comment, changes: newDict([['cmd', name]]) });
    return stateful.on ? reinterpret(planned) : planned;
  }
  const { cwd, root } = args;
  if (cwd && !(await isFolder(pyStr(cwd)))) {
    return ctx.fail(`Desired working directory "${pyStr(cwd)}" is not available`);
  }
  const names = ['cwd', 'root', 'runas', 'password', 'use_vt', 'env', 'prepend_path', 'output_loglevel', 'hide_output'];
  const options = optionsOf(
    args,
    [...names, 'success_retcodes', 'success_stdout', 'success_stderr', 'timeout'],
    newDict(),
  );
  Object.assign(options, { shell: shellOf(args, ctx), python_shell: true, cmd: name });
  if (!root) delete options['root'];
  let all: Value;
  try {
    // Under test the command of `stateful: {test_name: …}` runs.
    all = await onlyReads(() => ctx.callWith(root ? 'cmd.run_chroot' : 'cmd.run_all', [], options));
  } catch (error) {
    return ctx.fail(messageOf(error), { name: given });
  }
  return judge(ctx, given, all as PlainDict, `Command "${name}" run`, stateful, args);
}

function wrongDicts(args: Args, ctx: StateContext): StateResult | undefined {
  for (const name of ['context', 'defaults']) {
    const value = args[name] ?? null;
    if (value && !isDict(value)) return ctx.fail(`Invalidly-formatted '${name}' parameter. Must be formed as a dict.`);
  }
  return undefined;
}

const dictOrEmpty = (value: Value | undefined): PlainDict =>
  value !== undefined && value !== null && isDict(value)
    ? newDict(dictEntries(value).map(([key, item]) => [pyStr(key), item] as const))
    : newDict();

async function script(given: string, args: Args, ctx: StateContext): Promise<StateResult> {
  const stateful = statefulOf(args['stateful'] ?? false);
  const name = ctx.test && stateful.testName !== undefined ? stateful.testName : given;
  const wrong = invalidEnv(args, ctx) ?? wrongDicts(args, ctx);
  if (wrong) return wrong;
  const options = scriptOptions(name, args, ctx);
  if (ctx.test && stateful.testName === undefined) {
    const planned = ctx.result({ name, result: null, comment: `Command '${name}' would have been executed` });
    return stateful.on ? reinterpret(planned) : planned;
  }
  const { cwd } = args;
  if (cwd && !(await isFolder(pyStr(cwd)))) {
    return ctx.fail(`Desired working directory "${pyStr(cwd)}" is not available`, { name });
  }
  const source = pyStr(args['source'] ?? name);
  let all: PlainDict;
  try {
    all = (await ctx.callWith('cmd.script', [source], options)) as PlainDict;
  } catch (error) {
    return ctx.fail(messageOf(error), { name });
  }
  const lost = all['cache_error'] ? `Unable to cache script ${source} from saltenv '${ctx.saltenv}'` : undefined;
  return judge(ctx, name, all, lost ?? `Command '${name}' run`, stateful, args);
}

function scriptOptions(name: string, args: Args, ctx: StateContext): PlainDict {
  const names = ['runas', 'password', 'env', 'cwd', 'template', 'timeout', 'output_loglevel', 'hide_output', 'use_vt'];
  const options = optionsOf(args, [...names, 'success_retcodes', 'success_stdout', 'success_stderr'], newDict());
  options['shell'] = shellOf(args, ctx);
  options['context'] = Object.assign(dictOrEmpty(args['defaults']), dictOrEmpty(args['context']));
  options['saltenv'] = ctx.saltenv;
  options['python_shell'] = true;
  const words = name.trim().split(/\s+/);
  if (!options['args'] && words.length > 1) options['args'] = name.slice(name.indexOf(' ') + 1);
  return options;
}

const scriptOnly = {
  source: p.scalar({
    default: null,
    doc: 'the script: a path, or an address such as salt://scripts/x.sh; the name when not given',
  }),
  template: p.scalar({ default: null, doc: 'engine that renders the script first' }),
};
const scriptParams = {
  name: p.string({ doc: 'the script, or a line with the script and its arguments' }),
  ...scriptOnly,
  ...pick(
    'cwd',
    'runas',
    'password',
    'shell',
    'env',
    'stateful',
    'timeout',
    'use_vt',
    'output_loglevel',
    'hide_output',
  ),
  defaults: p.oneOf(['dict', 'list', 'string'], { default: null, doc: 'values for the template' }),
  context: p.oneOf(['dict', 'list', 'string'], {
    default: null,
    doc: 'values for the template that override `defaults`',
  }),
  ...pick('success_retcodes', 'success_stdout', 'success_stderr', 'kwargs'),
};

const nothing = (args: { readonly name: string }, ctx: StateContext): StateResult => ctx.ok('', { name: args.name });
const waitDoc = 'is done only when something the state watches has changed; prefer cmd.run with `onchanges`.';

const wait = state({
  doc: `A command that ${waitDoc}`,
  params: pick(
    ...([
      'name',
      'cwd',
      'root',
      'runas',
      'shell',
      'env',
      'stateful',
      'output_loglevel',
      'hide_output',
      'use_vt',
    ] as const),
    ...(['success_retcodes', 'success_stdout', 'success_stderr', 'kwargs'] as const),
  ),
  run: nothing,
});

const functions = {
  run: state({
    doc: 'Runs a command. It always counts as a change; `onchanges`, `unless`, `onlyif` and `creates` decide when it runs.',
    params: shared,
    run: (args, ctx) => run(args.name, args as Args, ctx),
  }),
  script: state({
    doc: 'Fetches a script and runs it.',
    params: scriptParams,
    run: (args, ctx) => script(args.name, args as Args, ctx),
  }),
  wait,
  watch: wait,
  wait_script: state({
    doc: `A script that ${waitDoc}`,
    params: {
      ...pick('name'),
      ...scriptOnly,
      ...pick('cwd', 'runas', 'shell', 'env', 'stateful', 'use_vt', 'output_loglevel', 'hide_output'),
      ...pick('success_retcodes', 'success_stdout', 'success_stderr', 'kwargs'),
    },
    run: nothing,
  }),
  call: state({
    doc: 'Calls a function of a renderer that writes states as code; SLS files cannot name one, so it fails from there.',
    params: { name: p.string(), func: p.scalar({ doc: 'the function' }), kwargs: p.kwargs() },
    run: (args, ctx) => ctx.fail(`cmd.call needs a function, not ${pyStr(args.func)}`),
  }),
  wait_call: state({
    doc: 'Like cmd.call, when a watched state has changed.',
    params: { name: p.string(), func: p.scalar({ default: null, doc: 'the function' }), kwargs: p.kwargs() },
    run: nothing,
  }),
};

/** Python's call again: declared arguments from the rest, their defaults otherwise. */
function argumentsFor(fun: 'run' | 'script', kwargs: PlainDict): Args {
  const { params } = functions[fun];
  const args = newDict();
  const rest = newDict();
  for (const [key, param] of Object.entries(params))
    if (param.kind !== 'kwargs' && !param.required) args[key] = param.default;
  for (const [key, value] of Object.entries(kwargs)) {
    if (Object.hasOwn(params, key) && key !== 'kwargs') args[key] = value;
    else rest[key] = value;
  }
  delete rest['sfun'];
  args['kwargs'] = rest;
  return args;
}

const modWatch = state({
  doc: 'Runs the command or script of a state when a watched state has changed.',
  params: { name: p.string(), kwargs: p.kwargs() },
  async run({ name, kwargs }, ctx) {
    const wanted = ctx.watchedFunction ?? pyStr(kwargs['sfun'] ?? null);
    const isScript = wanted === 'script' || wanted === 'wait_script';
    if (isScript || ['wait', 'run', 'watch'].includes(wanted)) {
      const { stateful, ...rest } = kwargs;
      const args = argumentsFor(isScript ? 'script' : 'run', newDict(Object.entries(rest)));
      const result = await (isScript ? script : run)(name, args, ctx);
      return stateful ? reinterpret(result) : result;
    }
    if (wanted === 'call' || wanted === 'wait_call')
      return ctx.fail(`cmd.${wanted} needs a named parameter func`, { name });
    return ctx.fail(`cmd.${wanted} does not work with the watch requisite, please use cmd.wait or cmd.wait_script`, {
      name,
    });
  },
});

export default defineState({
  name: 'cmd',
  doc: 'Runs commands and scripts.',
  functions,
  modWatch,
});
