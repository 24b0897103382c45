// Pauses and ends a state run between two states, and lists runs in progress.

import { join } from 'node:path';
import {
  fn,
  invocationError,
  type ModuleContext,
  newDict,
  type PlainDict,
  p,
  pyInt,
  pyStr,
  textKeyed,
  type Value,
} from 'halite/sdk';
import { pack, unpack } from 'halite/sdk/codec';
import { mkdir, readdir, readFile, rename, unlink, writeFile } from 'halite/sdk/fs';
import { isJid } from 'halite/sdk/jobs';
import { runningStates, runningTexts } from './queue.ts';

const folderOf = (ctx: ModuleContext): string => join(pyStr(ctx.opts['cachedir'] ?? ''), 'state_pause');

/** The id becomes a file name, so it must be a valid job id. */
function pathOf(jid: string, ctx: ModuleContext): string {
  if (!isJid(jid)) throw invocationError(`${jid} is not a job id`);
  return join(folderOf(ctx), jid);
}

async function read(path: string): Promise<PlainDict> {
  try {
    const value = unpack(await readFile(path));
    return textKeyed(value);
  } catch {
    return newDict();
  }
}

async function write(path: string, data: PlainDict, ctx: ModuleContext): Promise<void> {
  await mkdir(folderOf(ctx), { recursive: true });
  const temporary = `${path}.${process.pid}.tmp`;
  await writeFile(temporary, pack(data), { mode: 0o600 });
  await rename(temporary, path);
}

async function set(jid: string, id: string | null, fields: PlainDict, ctx: ModuleContext): Promise<null> {
  const path = pathOf(jid, ctx);
  const data = await read(path);
  data[id ?? '__all__'] = fields;
  await write(path, data, ctx);
  return null;
}

async function pauses(jid: Value, ctx: ModuleContext): Promise<PlainDict> {
  const running = new Set((await runningStates(ctx)).map((job) => job.jid));
  const wanted =
    jid === null
      ? await readdir(folderOf(ctx)).catch((): string[] => [])
      : Array.isArray(jid)
        ? jid.map(pyStr)
        : [pyStr(jid)];
  const found = newDict();
  for (const name of wanted.filter(isJid)) {
    const path = join(folderOf(ctx), name);
    if (running.has(name)) found[name] = await read(path);
    else await unlink(path).catch(() => undefined);
  }
  return found;
}

const jid = p.text({ doc: 'the job that applies states' });
const stateId = p.string({ default: null, doc: 'before which state; before the next one when not given' });

export const pauseFunctions = {
  running: fn({
    doc: 'State runs in progress, a message for each.',
    examples: ["salt '*' state.running"],
    params: { concurrent: p.bool({ default: false, doc: 'True ignores other runs and returns an empty list' }) },
    run: async (args, ctx) => (args.concurrent ? [] : runningTexts(await runningStates(ctx))),
  }),
  get_pauses: fn({
    doc: 'The pauses that are set for runs in progress.',
    examples: ["salt '*' state.get_pauses"],
    params: { jid: p.oneOf(['list', 'string'], { default: null, doc: 'one job, or a list' }) },
    run: (args, ctx) => pauses(args.jid, ctx),
  }),
  pause: fn({
    doc: 'Pauses a state run before a state.',
    examples: ["salt '*' state.pause 20171130110407769519", "salt '*' state.pause 20171130110407769519 vim 20"],
    params: {
      jid,
      state_id: stateId,
      duration: p.oneOf(['int', 'string'], { default: null, falsy: null, doc: 'seconds to wait at most' }),
    },
    run: (args, ctx) =>
      set(args.jid, args.state_id, newDict(args.duration ? [['duration', pyInt(args.duration)]] : []), ctx),
  }),
  soft_kill: fn({
    doc: 'Ends a state run before a state, between two states.',
    examples: ["salt '*' state.soft_kill 20171130110407769519", "salt '*' state.soft_kill 20171130110407769519 vim"],
    params: { jid, state_id: stateId },
    run: (args, ctx) => set(args.jid, args.state_id, newDict([['kill', true]]), ctx),
  }),
  resume: fn({
    doc: 'Resumes a state run.',
    examples: ["salt '*' state.resume 20171130110407769519"],
    params: { jid, state_id: stateId },
    async run(args, ctx) {
      const path = pathOf(args.jid, ctx);
      const data = args.state_id === null ? newDict() : await read(path);
      if (args.state_id !== null) delete data[args.state_id];
      await write(path, data, ctx);
      return null;
    },
  }),
};
