// State runs that wait until a user of the minion starts them (`state.request`), and caches of runs.

import { dirname, join } from 'node:path';
import {
  dictEntries,
  dictGet,
  fn,
  isDict,
  type ModuleContext,
  newDict,
  type PlainDict,
  p,
  pyRepr,
  pyStr,
  pythonError,
  textKeyed,
  type Value,
} from 'halite/sdk';
import { pack, unpack } from 'halite/sdk/codec';
import { mkdir, readdir, readFile, rename, unlink, writeFile } from 'halite/sdk/fs';
import { apply } from './apply.ts';

const pathOf = (ctx: ModuleContext): string => join(pyStr(ctx.opts['cachedir'] ?? ''), 'req_state.p');

async function readRequests(ctx: ModuleContext): Promise<PlainDict> {
  try {
    const value = unpack(await readFile(pathOf(ctx)));
    return textKeyed(value);
  } catch {
    return newDict();
  }
}

async function writeRequests(requests: PlainDict, ctx: ModuleContext): Promise<void> {
  const path = pathOf(ctx);
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(temporary, pack(requests), { mode: 0o600 });
    await rename(temporary, path);
  } catch (error) {
    ctx.log.error(`Unable to write state request file ${path}. Check permission.`, { error: String(error) });
  }
}

const withoutJob = (kwargs: PlainDict): PlainDict =>
  newDict(Object.entries(kwargs).filter(([key]) => !key.startsWith('__pub_')));

async function removeRequests(ctx: ModuleContext): Promise<void> {
  await unlink(pathOf(ctx)).catch(() => undefined);
}

async function runRequest(name: string, kwargs: PlainDict, ctx: ModuleContext): Promise<Value> {
  const request = dictGet(await readRequests(ctx), name);
  if (request === undefined || !isDict(request)) return newDict();
  const mods = dictGet(request, 'mods');
  const kept = dictGet(request, 'kwargs');
  if (mods === undefined || kept === undefined || !isDict(kept)) return newDict();
  const given = newDict(dictEntries(kept).map(([key, value]) => [pyStr(key), value] as const));
  Object.assign(given, kwargs);
  delete given['test'];
  const result = await apply(mods, given, ctx);
  await removeRequests(ctx);
  return result;
}

const outputter = 'highstate';

export const requestFunctions = {
  request: fn({
    doc: 'Tests a state run and stores it, so that a user of the minion can start it with state.run_request.',
    examples: ["salt '*' state.request", "salt '*' state.request stuff,pkgs"],
    params: {
      mods: p.oneOf(['list', 'string'], { default: null, doc: 'SLS names, as for state.apply' }),
      kwargs: p.kwargs(),
    },
    outputter,
    async run(args, ctx) {
      const kwargs = Object.assign(newDict(Object.entries(args.kwargs)), { test: true });
      const tried = await apply(args.mods, kwargs, ctx);
      const requests = await readRequests(ctx);
      requests[pyStr(kwargs['name'] ?? 'default')] = newDict([
        ['test_run', tried],
        ['mods', args.mods],
        ['kwargs', withoutJob(kwargs)],
      ]);
      await writeRequests(requests, ctx);
      return tried;
    },
  }),
  check_request: fn({
    doc: 'The waiting state runs, or one of them.',
    examples: ["salt '*' state.check_request"],
    params: { name: p.string({ default: null, doc: 'the name of a request' }) },
    outputter,
    async run(args, ctx) {
      const requests = await readRequests(ctx);
      if (!args.name) return requests;
      if (!Object.hasOwn(requests, args.name)) throw pythonError('KeyError', pyRepr(args.name));
      return requests[args.name];
    },
  }),
  clear_request: fn({
    doc: 'Removes the waiting state runs, or one of them.',
    examples: ["salt '*' state.clear_request"],
    params: { name: p.string({ default: null, doc: 'the name of a request' }) },
    async run(args, ctx) {
      if (!args.name) {
        await removeRequests(ctx);
        return true;
      }
      const requests = await readRequests(ctx);
      if (Object.keys(requests).length === 0) return true;
      if (!Object.hasOwn(requests, args.name)) return false;
      delete requests[args.name];
      await writeRequests(requests, ctx);
      return true;
    },
  }),
  run_request: fn({
    doc: 'Starts a waiting state run.',
    examples: ["salt '*' state.run_request"],
    params: { name: p.string({ default: 'default', doc: 'the name of the request' }), kwargs: p.kwargs() },
    outputter,
    run: (args, ctx) => runRequest(args.name, withoutJob(args.kwargs), ctx),
  }),
  clear_cache: fn({
    doc: 'Removes the compiled states of earlier runs (`cache=True`).',
    examples: ["salt '*' state.clear_cache"],
    async run(_args, ctx) {
      const folder = pyStr(ctx.opts['cachedir'] ?? '');
      const names = (await readdir(folder).catch((): string[] => [])).filter((name) => name.endsWith('.cache.p'));
      for (const name of names) await unlink(join(folder, name)).catch(() => undefined);
      return names;
    },
  }),
};
