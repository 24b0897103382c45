// Functions of `saltutil` that act on the master: if it runs on the same machine, or by a request to the master.

import { dirname, join } from 'node:path';
import {
  type ArgsOf,
  cleanKwargs,
  commandError,
  dictEntries,
  fn,
  HaliteError,
  isDict,
  type MasterFunctionReport,
  type ModuleContext,
  messageOf,
  newDict,
  type OrchestrationServices,
  type PlainDict,
  p,
  pyStr,
  type Value,
} from 'halite/sdk';
import { dumpJson, loadJson } from 'halite/sdk/codec';
import { isFile, readdir, rm } from 'halite/sdk/fs';
import { which } from 'halite/sdk/system';
import { installation } from '../../shared/software/version.ts';

/** The configuration folder of a master on this machine. */
function masterFolder(ctx: ModuleContext): string {
  const folder = dirname(pyStr(ctx.opts['conf_file'] ?? ''));
  if (!isFile(join(folder, 'master'))) {
    throw commandError('This command can only be executed on a minion that is located on the master.');
  }
  return folder;
}

function programPath(name: string): string {
  const own = join(installation().root, 'bin', name);
  const found = which(own) ?? which(name);
  if (!found) throw commandError(`${name} is not installed here`);
  return found;
}

/** Values as the command line reads them back: JSON is YAML. */
const words = (args: readonly Value[], kwargs: PlainDict): string[] => [
  ...args.map((value) => dumpJson(value)),
  ...Object.entries(kwargs).map(([key, value]) => `${key}=${dumpJson(value)}`),
];

async function ask(program: string, options: string[], ctx: ModuleContext): Promise<Value> {
  const { retcode, stdout, stderr } = await ctx.exec(programPath(program), [
    '-c',
    masterFolder(ctx),
    '--out=json',
    ...options,
  ]);
  try {
    return loadJson(stdout);
  } catch {
    throw commandError(stderr.trim() || stdout.trim() || `${program} ended with code ${retcode}`);
  }
}

/** The only value of an answer of the form `{"local": …}`. */
function unwrap(answer: Value): Value {
  const entries = isDict(answer) ? dictEntries(answer) : [];
  return entries.length === 1 ? (entries[0]?.[1] ?? null) : answer;
}

const targetOptions: Readonly<Record<string, string>> = {
  list: '-L',
  pcre: '-E',
  grain: '-G',
  grain_pcre: '-P',
  pillar: '-I',
  pillar_pcre: '-J',
  nodegroup: '-N',
  range: '-R',
  compound: '-C',
  ipcidr: '-S',
};

type RemoteCall = ArgsOf<typeof remoteParams>;

/** An orchestration calls the master directly; a target without matches gives an empty answer. */
async function published(call: RemoteCall, args: Value[], kwargs: PlainDict, master: OrchestrationServices) {
  const { tgt_type, fun, ret, timeout } = call;
  const tgt = Array.isArray(call.tgt) ? call.tgt.map(pyStr) : pyStr(call.tgt);
  const found = newDict();
  try {
    const limit = timeout ? { timeoutSeconds: timeout } : {};
    const { jid, returns } = await master.runJob({ tgt, tgt_type, fun, arg: args, kwargs, ret, ...limit });
    for (const [id, { ret: value, retcode }] of Object.entries(returns)) {
      found[id] = newDict([['jid', jid] as const, ['ret', value] as const, ['retcode', retcode] as const]);
    }
  } catch (error) {
    if (!(error instanceof HaliteError) || error.code !== 'target.empty') throw error;
  }
  return found;
}

/** A master function's report in the form of its return event. */
function asEvent(fun: string, args: readonly Value[], kwargs: PlainDict, report: MasterFunctionReport): PlainDict {
  const { jid, return: value, success } = report;
  const funArgs = Object.keys(kwargs).length > 0 ? [...args, kwargs] : [...args];
  return Object.assign(newDict(), { fun, fun_args: funArgs, jid, return: value, success });
}

async function remote(call: RemoteCall, ctx: ModuleContext): Promise<PlainDict> {
  if (call.ssh) throw commandError('salt-ssh is not available');
  const option = Object.hasOwn(targetOptions, call.tgt_type) ? [targetOptions[call.tgt_type] as string] : [];
  const tgt = Array.isArray(call.tgt) ? call.tgt.map(pyStr).join(',') : pyStr(call.tgt);
  const args = Array.isArray(call.arg) ? call.arg : [call.arg];
  const kwargs = isDict(call.kwarg)
    ? newDict(dictEntries(call.kwarg).map(([key, value]) => [pyStr(key), value]))
    : newDict();
  if (ctx.master) return published(call, args, kwargs, ctx.master);
  const limits = [
    // The command takes whole seconds.
    ...(call.timeout ? [`--timeout=${Math.ceil(call.timeout)}`] : []),
    ...(call.ret ? [`--return=${call.ret}`] : []),
  ];
  const answer = await ask(
    'salt',
    ['--static', ...limits, ...option, '--', tgt, call.fun, ...words(args, kwargs)],
    ctx,
  );
  const found = newDict();
  if (isDict(answer)) for (const [id, value] of dictEntries(answer)) found[pyStr(id)] = newDict([['ret', value]]);
  return found;
}

const remoteParams = {
  tgt: p.oneOf(['string', 'list'], { doc: 'which minions' }),
  fun: p.string({ doc: 'the function' }),
  arg: p.any({ default: [], doc: 'list of arguments, or the only one, of any kind' }),
  timeout: p.float({ default: null }),
  tgt_type: p.string({ default: 'glob' }),
  ret: p.string({ default: '' }),
  kwarg: p.dict({ default: null, falsy: null, doc: 'dictionary of keyword arguments' }),
  ssh: p.bool({ default: false }),
  kwargs: p.kwargs(),
};

export const masterFunctions = {
  runner: fn({
    doc: 'Runs a runner function. Only on a minion next to its master.',
    examples: [
      'salt master_minion saltutil.runner jobs.list_jobs',
      `salt master_minion saltutil.runner test.arg arg="['baz']" kwarg="{'foo': 'bar'}"`,
    ],
    params: {
      name: p.string(),
      arg: p.any({ default: null, doc: 'list of arguments, or the only one, of any kind' }),
      kwarg: p.dict({ default: null, falsy: null }),
      full_return: p.bool({ default: false }),
      saltenv: p.string({ default: 'base' }),
      jid: p.string({ default: null }),
      kwargs: p.kwargs(),
    },
    async run({ name, arg, kwarg, kwargs, full_return, saltenv }, ctx) {
      const named = isDict(kwarg) ? newDict(dictEntries(kwarg).map(([key, value]) => [pyStr(key), value])) : newDict();
      Object.assign(named, cleanKwargs(kwargs));
      const args = Array.isArray(arg) ? arg : arg === null ? [] : [arg];
      if (ctx.master) {
        const report = await ctx.master.callFunction({ kind: 'runners', fun: name, args, kwargs: named, saltenv });
        return full_return ? asEvent(`runner.${name}`, args, named, report) : report.return;
      }
      return ask('salt-run', ['--', name, ...words(args, named)], ctx);
    },
  }),
  wheel: fn({
    doc: 'Runs a wheel function. Only on a minion next to its master.',
    examples: ['salt master_minion saltutil.wheel key.accept match=jerry'],
    params: { name: p.string(), args: p.rest(), kwargs: p.kwargs() },
    async run({ name, args, kwargs }, ctx) {
      if (ctx.master) {
        const named = cleanKwargs(kwargs);
        const report = await ctx.master.callFunction({ kind: 'wheel', fun: name, args, kwargs: named });
        return asEvent(`wheel.${name}`, args, named, report);
      }
      return unwrap(await ask('salt-run', ['--', 'salt.wheel', name, ...words(args, cleanKwargs(kwargs))], ctx));
    },
  }),
  cmd: fn({
    doc: 'Runs a function on other minions. Only on a minion next to its master.',
    examples: ["salt '*' saltutil.cmd tgt='*' fun=test.ping"],
    params: remoteParams,
    run: (args, ctx) => remote(args, ctx),
  }),
  cmd_iter: fn({
    doc: 'Like saltutil.cmd, with one entry per minion in a list.',
    examples: ["salt '*' saltutil.cmd_iter tgt='*' fun=test.ping"],
    params: remoteParams,
    run: async (args, ctx) => Object.entries(await remote(args, ctx)).map(([id, value]) => newDict([[id, value]])),
  }),
  mmodule: fn({
    doc: 'Runs an execution function in another file server environment.',
    examples: ["salt '*' saltutil.mmodule base test.ping"],
    params: { saltenv: p.string(), fun: p.string(), args: p.rest(), kwargs: p.kwargs() },
    run: ({ fun, args, kwargs }, ctx) => ctx.callWith(fun, args, cleanKwargs(kwargs)),
  }),
  revoke_auth: fn({
    doc: 'Asks the master to delete this minion’s key. The minion is then no longer accepted.',
    examples: ["salt '*' saltutil.revoke_auth"],
    params: { preserve_minion_cache: p.bool({ default: false }) },
    async run({ preserve_minion_cache }, ctx) {
      try {
        await ctx.minion.masterRequest(
          newDict([
            ['cmd', 'revoke_auth'],
            ['id', ctx.id],
            ['preserve_minion_cache', preserve_minion_cache],
          ]),
        );
        return true;
      } catch (error) {
        ctx.log.error('revoking failed', { problem: messageOf(error) });
        return false;
      }
    },
  }),
  regen_keys: fn({
    doc: 'Removes the minion’s keys, so that it creates new ones. They must be accepted on the master again.',
    examples: ["salt '*' saltutil.regen_keys"],
    async run(_, ctx) {
      const folder = pyStr(ctx.opts['pki_dir'] ?? '');
      if (folder)
        for (const name of await readdir(folder)) await rm(join(folder, name), { force: true }).catch(() => undefined);
      return null;
    },
  }),
  clear_cache: fn({
    doc: 'Removes every file in the minion’s cache folder.',
    examples: ["salt '*' saltutil.clear_cache"],
    async run(_, ctx) {
      const folder = pyStr(ctx.opts['cachedir'] ?? '');
      if (!folder || folder === '/') return false;
      try {
        for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
          if (entry.isFile() || entry.isSymbolicLink()) await rm(join(entry.parentPath, entry.name), { force: true });
        }
        return true;
      } catch (error) {
        ctx.log.error('clearing the cache failed', { folder, problem: messageOf(error) });
        return false;
      }
    },
  }),
  update: fn({
    doc: 'Self-update is not supported: use the package manager.',
    examples: ["salt '*' saltutil.update"],
    params: { version: p.string({ default: null }) },
    run: () => newDict([['_error', 'Esky not available as import']]),
  }),
};
