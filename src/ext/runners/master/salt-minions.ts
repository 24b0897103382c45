// The steps that move a real Salt minion: a file with both masters, a restart that survives itself, a look at its
// connections, and later the same with the new master alone. All of them are jobs.
import { setTimeout as sleep } from 'node:timers/promises';
import { type MasterContext, newDict, type PlainDict, type Value } from 'halite/sdk';
import { shellQuote } from 'halite/sdk/text';

export interface SaltMove {
  readonly ids: readonly string[];
  readonly address: string;
  readonly finish: boolean;
  readonly restart: string;
  readonly publish_port: number;
  readonly batch: number;
  readonly wait: number;
}

/** A file of ours in the folder beside the configuration of a minion. */
export const besides = (configFile: string, name: string): string =>
  `${configFile.replace(/\/[^/]*$/, '')}/minion.d/${name}`;
const fileOf = (configFile: string): string => besides(configFile, '_masters.conf');

/** Written as JSON, which is YAML: one line, nothing to quote. */
const contentOf = (masters: readonly string[]): string => `master: ${JSON.stringify(masters)}`;

/** For an operator who does it by hand. */
export function saltSteps({ ids, address, finish, restart }: SaltMove): Value {
  // An id may contain what a shell reads as its own.
  const target = `-L ${shellQuote(ids.join(','))}`;
  const masters = finish ? [address] : [address, 'THIS_MASTER'];
  return [
    `salt ${target} file.write /etc/salt/minion.d/_masters.conf ${shellQuote(contentOf(masters))}`,
    `salt ${target} cmd.run_bg ${shellQuote(restart)}`,
    `on ${address}: salt ${target} test.ping`,
    ...(finish ? [] : ['when all of them answer there: the same command with finish=True']),
    'or let this be done ten at a time: apply=True',
  ];
}

/** Carries the steps out, a few minions at a time; stops at the first group of which one does not come. */
export async function restartsOf(ctx: MasterContext, move: SaltMove): Promise<PlainDict> {
  const done: string[] = [];
  const groups: string[][] = [];
  for (let at = 0; at < move.ids.length; at += Math.max(1, move.batch))
    groups.push(move.ids.slice(at, at + Math.max(1, move.batch)));
  for (const group of groups) {
    const problem = await moveGroup(ctx, move, group);
    if (problem !== undefined)
      return newDict([
        [move.finish ? 'left' : 'connected', done],
        ['stopped', problem],
        ['not tried', move.ids.filter((id) => !done.includes(id) && !group.includes(id))],
      ]);
    done.push(...group);
    ctx.progress(`${done.length} of ${move.ids.length} Salt minions`);
  }
  return newDict([[move.finish ? 'left' : 'connected', done]]);
}

/** A restarted real Salt minion takes long for its first answers on a busy machine. */
const mostTries = 4;

type Answers = Readonly<Record<string, { ret: Value; success: boolean }>>;

export async function ask(
  ctx: MasterContext,
  ids: readonly string[],
  fun: string,
  arg: readonly Value[],
): Promise<Answers> {
  return (await ctx.master.runJob({ tgt: ids, tgt_type: 'list', fun, arg, timeoutSeconds: 15, moves: true })).returns;
}

/** Of what may be asked twice: who gave no answer, because it or its machine was busy, is asked again. */
export async function askPatiently(
  ctx: MasterContext,
  ids: readonly string[],
  fun: string,
  arg: readonly Value[],
): Promise<Answers> {
  let answers: Answers = {};
  for (let tries = 0; tries < mostTries; tries++) {
    const silent = ids.filter((id) => !Object.hasOwn(answers, id));
    if (silent.length === 0) break;
    answers = { ...answers, ...(await ask(ctx, silent, fun, arg)) };
  }
  return answers;
}

async function moveGroup(ctx: MasterContext, move: SaltMove, ids: readonly string[]): Promise<string | undefined> {
  const { address, finish } = move;
  if (finish) {
    const away = await notConnected(ctx, move, ids);
    if (away.length > 0)
      return `not connected to ${address}: ${away.join(', ')}; nothing was changed on these: ${ids.join(', ')}`;
  }
  const [files, masters] = [
    await askPatiently(ctx, ids, 'config.get', ['conf_file']),
    await askPatiently(ctx, ids, 'config.get', ['master']),
  ];
  for (const id of ids) {
    const file = files[id]?.ret;
    if (typeof file !== 'string' || !file.startsWith('/')) return `${id} did not say where its configuration is`;
    const place = fileOf(file);
    const old = masterList(masters[id]?.ret).filter((master) => master !== address);
    if (old.length === 0 && !finish) return `${id} did not say which masters it has`;
    const content = contentOf(finish ? [address] : [address, ...(await withPort(ctx, id, old))]);
    await askPatiently(ctx, [id], 'file.mkdir', [place.replace(/\/[^/]*$/, '')]);
    const written = (await askPatiently(ctx, [id], 'file.write', [place, content]))[id];
    if (!written?.success || !/^Wrote/.test(String(written.ret)))
      return `${id} could not write ${place}: ${String(written?.ret ?? 'no answer')}`;
  }
  // The start events come within moments: somebody has to listen before the restart.
  const started = startEvents(ctx, ids, move.wait);
  await ask(ctx, ids, 'cmd.run_bg', [move.restart]);
  if (finish) {
    started.stop();
    return undefined;
  }
  const late = await started.missing;
  if (late.length > 0) return `no start event after the restart from ${late.join(', ')}`;
  const deadline = Date.now() + move.wait * 1000;
  let away = await notConnected(ctx, move, ids);
  while (away.length > 0 && Date.now() < deadline) {
    await sleep(2000, undefined, { signal: ctx.signal });
    away = await notConnected(ctx, move, away);
  }
  return away.length > 0 ? `restarted, but not connected to ${address}: ${away.join(', ')}` : undefined;
}

const masterList = (value: Value | undefined): string[] =>
  (Array.isArray(value) ? value : [value ?? '']).map(String).filter((text) => text !== '');

/** In a list, each master has its own port; a plain name has the one of `master_port`. */
async function withPort(ctx: MasterContext, id: string, masters: readonly string[]): Promise<string[]> {
  if (masters.every((master) => /:\d+$/.test(master))) return [...masters];
  const port = (await askPatiently(ctx, [id], 'config.get', ['master_port']))[id]?.ret;
  return masters.map((master) => (/:\d+$/.test(master) || typeof port !== 'number' ? master : `${master}:${port}`));
}

/**
 * Those without an established connection to the publish port of the new master. The old one usually has the same port, so
 * the address counts too, as the minion itself resolves it.
 */
async function notConnected(ctx: MasterContext, move: SaltMove, ids: readonly string[]): Promise<string[]> {
  const { publish_port } = move;
  const host = move.address.replace(/(?<=^[^:]*|\]):\d+$/, '').replace(/^\[|\]$/g, '');
  const answers = await askPatiently(ctx, ids, 'cmd.run', [
    `getent ahosts ${shellQuote(host)}; ss -Htn state established '( dport = :${publish_port} )'`,
  ]);
  return ids.filter((id) => {
    const ret = answers[id]?.ret;
    return typeof ret !== 'string' || !isConnected(ret, publish_port);
  });
}

/** Whether one of the addresses that getent printed is the other end of a connection that ss printed. */
export function isConnected(said: string, port: number): boolean {
  const lines = said.split('\n').map((line) => line.trim().split(/\s+/));
  const addresses = lines
    .filter(([, kind]) => /^(STREAM|DGRAM|RAW)$/.test(kind ?? ''))
    .map(([address]) => address ?? '');
  const ends = new Set(
    addresses.flatMap((address) => [`${address}:${port}`, `[${address}]:${port}`, `[::ffff:${address}]:${port}`]),
  );
  return lines.some((words) => words.length >= 4 && ends.has(words.at(-1) ?? ''));
}

/** Waits for the start event of each; resolves with those that have not come in time. */
export function startEvents(
  ctx: MasterContext,
  ids: readonly string[],
  seconds: number,
): { missing: Promise<string[]>; stop(): void } {
  const left = new Set(ids);
  const control = new AbortController();
  const timer = setTimeout(() => control.abort(), seconds * 1000);
  const listen = async (): Promise<string[]> => {
    try {
      for await (const { tag } of ctx.master.subscribe('salt/minion/', AbortSignal.any([control.signal, ctx.signal]))) {
        const id = /^salt\/minion\/(.+)\/start$/.exec(tag)?.[1];
        if (id !== undefined) left.delete(id);
        if (left.size === 0) break;
      }
    } catch {
      // Aborted: the time is over.
    }
    clearTimeout(timer);
    return [...left].sort();
  };
  return { missing: listen(), stop: () => control.abort() };
}
