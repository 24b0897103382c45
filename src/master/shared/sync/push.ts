// `cluster.sync_roots`: gives the plain folders of this master to other members, which make theirs equal.
import { randomUUID } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { intField, listField, textField } from '../../../base/codec/fields.ts';
import { asDict, type Dict, dictGet, newDict, type PlainDict, type Value } from '../../../base/codec/value.ts';
import { HaliteError, messageOf } from '../../../base/errors/index.ts';
import { listFirst } from '../../../base/util/list-first.ts';
import { visibleLine } from '../../../base/util/visible.ts';
import type { Cluster } from '../../../engine/cluster/api.ts';
import type { SyncRootsOptions } from '../../../extend/sdk/cluster.ts';
import type { OfferedTree, Offers } from './offer.ts';
import { environmentsOf, isPlain, optionOf, type RootKind, rootKinds } from './roots.ts';
import { readTree } from './tree.ts';

export interface PushParts {
  readonly cluster: Pick<Cluster, 'name' | 'self' | 'state' | 'members' | 'signals' | 'onChange'>;
  readonly raw: PlainDict;
  readonly offers: Offers;
}

/** Until the next word of the other one, which says something every five seconds. */
const answerMs = 60_000;
const mostNamed = 10;
const mostAnswers = 10_000;

interface Source extends OfferedTree {
  readonly kind: RootKind;
  readonly env: string;
  readonly index: number;
  readonly count: number;
}

/** What each member did or would do, by member and folder; `failed` when one of them did not do it. */
export async function syncRoots(
  parts: PushParts,
  options: SyncRootsOptions,
): Promise<{ readonly told: PlainDict; readonly failed: boolean }> {
  const members = chosen(parts, options.members ?? []);
  const sources = await sourcesOf(parts.raw, options);
  const done = await Promise.all(members.map((id) => pushTo(parts, id, sources, options.dryRun)));
  return {
    told: newDict(done.map(({ id, told }) => [id, told] as const)),
    failed: done.some(({ failed }) => failed),
  };
}

function chosen({ cluster }: PushParts, wanted: readonly string[]): string[] {
  if (cluster.name === undefined)
    throw new HaliteError('call.failed', 'This master works alone: there is no other one to give files to');
  if (cluster.state.kind === 'cut-off')
    throw new HaliteError('cluster.cut-off', `This master is cut off from the others: ${cluster.state.why}`);
  const others = cluster
    .members()
    .map(({ id }) => id)
    .filter((id) => id !== cluster.self.id);
  const unknown = wanted.find((id) => !others.includes(id));
  if (unknown !== undefined) {
    throw new HaliteError('call.arguments', `'${unknown}' is no other live member of the cluster`, {
      hint: `Others: ${others.join(', ') || 'none'}.`,
    });
  }
  if (others.length === 0) throw new HaliteError('call.failed', 'No other member of the cluster is there now');
  return wanted.length > 0 ? [...wanted] : others;
}

async function sourcesOf(raw: PlainDict, { env: wanted, only }: SyncRootsOptions): Promise<Source[]> {
  const sources: Source[] = [];
  const unfit: string[] = [];
  for (const kind of rootKinds.filter((some) => only === undefined || some === only)) {
    for (const [env, folders] of environmentsOf(raw, kind)) {
      if (wanted !== undefined && env !== wanted) continue;
      for (const [index, named] of folders.entries()) {
        const folder = isPlain(named) ? await realpath(named).catch(() => undefined) : undefined;
        // A folder that is missing here says nothing about the others.
        if (folder === undefined) continue;
        const tree = await readTree(folder);
        unfit.push(...tree.unfit.map((what) => `${folder}: ${what}`));
        sources.push({ kind, env, index, count: folders.length, folder, tree });
      }
    }
  }
  if (unfit.length > 0) {
    throw new HaliteError('call.failed', `This cannot be given to others: ${listFirst(unfit, mostNamed, '; ')}`, {
      hint: 'Replace links by what they name, move the rest out of the folder, or use gitfs.',
    });
  }
  if (sources.length > 0) return sources;
  const options = rootKinds.map((kind) => optionOf[kind]).join(' and ');
  const where = wanted === undefined ? options : `the environment ${wanted} of ${options}`;
  throw new HaliteError('call.arguments', `This master has no plain folder in ${where}`);
}

async function pushTo({ cluster, offers }: PushParts, id: string, sources: readonly Source[], dryRun: boolean) {
  const session = randomUUID();
  const end = offers.open(session, id, sources);
  const told = newDict();
  const names = sources.map(({ kind, env, count, index }) => `${kind} ${env}${count > 1 ? ` (${index + 1})` : ''}`);
  let failed = false;
  try {
    const roots = sources.map(({ kind, env, index, count }): PlainDict => ({ kind, env, index, count }));
    let at = 0;
    let heard = 0;
    const body = { session, roots, dry_run: dryRun };
    const answers = cluster.signals.ask(id, 'sync', body, { timeoutMs: answerMs });
    for await (const item of whileThere(cluster, id, answers)) {
      const dict = asDict(item) ?? {};
      if (++heard > mostAnswers || at >= sources.length)
        throw new HaliteError('cluster.refused', 'It answers without end');
      if (dictGet(dict, 'alive') === true) continue;
      failed ||= dictGet(dict, 'error') !== undefined;
      told[names[at] ?? ''] = lineOf(dict, dryRun);
      at += 1;
    }
    for (const name of names.slice(at)) {
      told[name] = 'failed: it gave no answer';
      failed = true;
    }
  } catch (error) {
    failed = true;
    for (const name of names) told[name] ??= `failed: ${visibleLine(messageOf(error))}`;
  } finally {
    end();
  }
  return { id, told, failed };
}

/** Ends with an error as soon as the member is known to be gone. */
async function* whileThere(cluster: PushParts['cluster'], id: string, answers: AsyncIterable<Value>) {
  let stop = (): void => undefined;
  const gone = new Promise<never>((_resolve, reject) => {
    stop = cluster.onChange((change) => {
      if (change.kind === 'left' && change.member.id === id)
        reject(new HaliteError('cluster.cut-off', 'the member is gone; it keeps its old files'));
    });
  });
  gone.catch(() => undefined);
  const items = answers[Symbol.asyncIterator]();
  try {
    for (;;) {
      const { done, value } = await Promise.race([items.next(), gone]);
      if (done) return;
      yield value;
    }
  } finally {
    stop();
    void items.return?.();
  }
}

function lineOf(dict: Dict, dryRun: boolean): string {
  const error = textField(dict, 'error');
  if (error !== undefined) return `failed: ${visibleLine(error).slice(0, 2000)}`;
  const parts = (['added', 'changed', 'removed'] as const).flatMap((what) => {
    const list = asDict(dictGet(dict, what)) ?? {};
    const count = intField(list, 'count') ?? 0;
    const first = (listField(list, 'first') ?? []).slice(0, mostNamed).map((name: Value) => visibleLine(String(name)));
    const more = count > first.length ? ` and ${count - first.length} more` : '';
    return count > 0 ? [`${count} ${what} (${first.join(', ')}${more})`] : [];
  });
  if (parts.length === 0) return 'equal';
  const text = parts.join(', ');
  return dryRun ? `would change: ${text}` : `${text}; before: ${visibleLine(textField(dict, 'before') ?? '')}`;
}
