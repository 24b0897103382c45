// The side of a synchronisation that gets files: asked by the member that has them, it fetches what it lacks from there.
import { realpathSync } from 'node:fs';
import { bytesField, intField, listField, textField } from '../../../base/codec/fields.ts';
import { asDict, dictGet, type PlainDict, type Value } from '../../../base/codec/value.ts';
import { HaliteError, messageOf } from '../../../base/errors/index.ts';
import type { Logger } from '../../../base/log/index.ts';
import type { Cluster, Member } from '../../../engine/cluster/api.ts';
import { ManifestReader } from './manifest.ts';
import { environmentsOf, type RootKind, rootAt, rootKinds } from './roots.ts';
import { beforeOf, finishSwitch, realRoot, replaceTree } from './stage.ts';
import type { TreeChanges } from './tree.ts';

export interface ReceiveParts {
  readonly cluster: Pick<Cluster, 'self' | 'signals'>;
  readonly raw: PlainDict;
  readonly log: Pick<Logger, 'info' | 'warn'>;
}

const answerMs = 60_000;
/** Something is said at least so often, so that the other one knows that this goes on. */
const aliveMs = 5_000;
const mostRoots = 200;
const mostNamed = 10;

interface Root {
  readonly kind: RootKind;
  readonly env: string;
  readonly index: number;
  readonly count: number;
}

export class RootReceiver {
  readonly #parts: ReceiveParts;
  #busyWith: string | undefined;

  constructor(parts: ReceiveParts) {
    this.#parts = parts;
    for (const root of this.#served()) {
      const which = finishSwitch(root);
      if (which) parts.log.warn('a change of a served folder was interrupted and is ended now', { root, tree: which });
    }
  }

  /** Answers the question `sync`: one item for each folder, and signs of life in between. */
  async *answer(body: Value, from: Member, signal: AbortSignal): AsyncIterable<Value> {
    const asked = asDict(body) ?? {};
    const session = textField(asked, 'session') ?? '';
    const roots = readRoots(listField(asked, 'roots') ?? []);
    if (session === '' || !roots)
      throw new HaliteError('cluster.refused', 'it names folders in a form that is not known');
    if (this.#busyWith !== undefined)
      throw new HaliteError('cluster.refused', `it takes files of ${this.#busyWith} at this moment`);
    this.#busyWith = from.id;
    let done: Promise<unknown> = Promise.resolve();
    try {
      const dryRun = dictGet(asked, 'dry_run') !== false;
      for (const [tree, root] of roots.entries()) {
        const taken = this.#take(root, { session, tree, from, dryRun, signal });
        done = taken;
        for (;;) {
          const told = await Promise.race([taken, pause(aliveMs)]);
          if (told) {
            yield told;
            break;
          }
          yield { alive: true };
        }
      }
    } finally {
      // An asker that left ends this at its next step, not at once.
      await done;
      this.#busyWith = undefined;
    }
  }

  async #take(root: Root, how: How): Promise<PlainDict> {
    const named: PlainDict = { kind: root.kind, env: root.env, index: root.index };
    const { raw, log } = this.#parts;
    try {
      const folder = await realRoot(rootAt(raw, root.kind, root.env, root.index, root.count));
      const reader = new ManifestReader();
      for await (const part of this.#ask(how, {})) reader.add(part);
      const changes = await replaceTree({
        ...{ root: folder, manifest: reader.done(), dryRun: how.dryRun, signal: how.signal },
        others: this.#served().filter((other) => other !== folder),
        fetch: async (digests, part) => {
          for await (const item of this.#ask(how, { digests: [...digests] })) {
            const content = asDict(item) ?? {};
            await part(textField(content, 'digest') ?? '', bytesField(content, 'bytes') ?? new Uint8Array());
          }
        },
      });
      const told = toldOf(changes);
      if (!how.dryRun) log.info('a served folder was replaced', { folder, from: how.from.id, ...told });
      return { ...named, folder, before: beforeOf(folder), ...told };
    } catch (error) {
      log.warn('a served folder was not replaced', { from: how.from.id, ...named, why: messageOf(error) });
      return { ...named, error: textOf(error) };
    }
  }

  #ask({ session, tree, from }: How, more: PlainDict): AsyncIterable<Value> {
    return this.#parts.cluster.signals.ask(from.id, 'files', { session, tree, ...more }, { timeoutMs: answerMs });
  }

  /** Every folder that is served, by its real path. */
  #served(): string[] {
    const all = rootKinds.flatMap((kind) => [...environmentsOf(this.#parts.raw, kind).values()].flat());
    return [...new Set(all.filter((folder) => folder.startsWith('/')).map(real))];
  }
}

function textOf(error: unknown): string {
  const hint = error instanceof HaliteError ? error.hint : undefined;
  return hint === undefined ? messageOf(error) : `${messageOf(error)}. ${hint}`;
}

interface How {
  readonly session: string;
  readonly tree: number;
  readonly from: Member;
  readonly dryRun: boolean;
  readonly signal: AbortSignal;
}

const pause = (ms: number): Promise<undefined> =>
  new Promise((resolve) => setTimeout(() => resolve(undefined), ms).unref());

function real(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}

function readRoots(list: readonly Value[]): Root[] | undefined {
  if (list.length > mostRoots) return undefined;
  const roots = list.flatMap((item): Root[] => {
    const dict = asDict(item) ?? {};
    const kind = rootKinds.find((some) => some === textField(dict, 'kind'));
    const [env, index, count] = [textField(dict, 'env'), intField(dict, 'index'), intField(dict, 'count')];
    return kind && env !== undefined && index !== undefined && count !== undefined ? [{ kind, env, index, count }] : [];
  });
  return roots.length === list.length ? roots : undefined;
}

function toldOf(changes: TreeChanges): PlainDict {
  const names = (list: readonly string[]): Value => ({ count: list.length, first: list.slice(0, mostNamed) });
  return { added: names(changes.added), changed: names(changes.changed), removed: names(changes.removed) };
}
