// What should be equal on all members: the configuration that decides what is allowed and what is served, and the
// served files. Each member tells digests; differences are named, never repaired by themselves.
import { createHash } from 'node:crypto';
import { pack } from '../../base/codec/msgpack/index.ts';
import {
  asDict,
  asText,
  dictEntries,
  dictOf,
  isDict,
  newDict,
  type PlainDict,
  type Value,
} from '../../base/codec/value.ts';
import { HaliteError, messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { redact } from '../../base/log/redact.ts';
import { visibleLine } from '../../base/util/visible.ts';
import type { Bucket, Cluster } from '../../engine/cluster/api.ts';
import type { ClusterDrift } from '../../extend/sdk/cluster.ts';
import type { EventBus } from '../../protocol/event/bus.ts';
import { equalOptions } from './drift-options.ts';
import { type Listed, treeDigest } from './trees.ts';

export interface DriftParts {
  readonly cluster: Pick<Cluster, 'name' | 'self' | 'members' | 'leads' | 'registry' | 'signals'>;
  readonly opts: { readonly raw: PlainDict };
  readonly bus: Pick<EventBus, 'fire'>;
  readonly log: Pick<Logger, 'debug' | 'warn' | 'limited'>;
  /** The files that this master serves, by environment. */
  files(): Promise<ReadonlyMap<string, readonly Listed[]>>;
  pillars(): Promise<ReadonlyMap<string, readonly Listed[]>>;
  /** Public keys by what they are for, as fingerprints. */
  keys(): ReadonlyMap<string, string>;
}

const tellMs = 60_000;
/** Whoever deploys to several masters needs a moment. */
const patienceMs = 120_000;
const answerMs = 30_000;
const mostDigests = 2000;
const mostPaths = 10;
const longestName = 1024;
/** Files of all environments of one member. */
const mostListed = 500_000;

const rootOptions = ['file_roots', 'pillar_roots'] as const;
const environmentsOf = (option: string): string => `option ${option} (environments)`;
const environmentNames = (roots: Value | undefined): Value[] =>
  dictEntries(asDict(roots ?? null) ?? {})
    .map(([env]) => env)
    .sort();
const isTree = (what: string): boolean => /^(files|extensions|pillar) /.test(what);
const isExtension = (path: string): boolean => /^_[a-z]+\//.test(path);

type Digests = ReadonlyMap<string, string>;

interface DriftLimits {
  readonly tellMs: number;
  readonly patienceMs: number;
  readonly mostListed: number;
}

export class Drift {
  readonly #parts: DriftParts;
  readonly #reg: Bucket<Value>;
  readonly #told = new Map<string, Digests>();
  readonly #since = new Map<string, number>();
  readonly #announced = new Set<string>();
  readonly #end = new AbortController();
  readonly #patienceMs: number;
  readonly #mostListed: number;
  #timer: NodeJS.Timeout | undefined;
  #last = '';

  /** Undefined for a master without others. */
  static open(parts: DriftParts, limits: DriftLimits = { tellMs, patienceMs, mostListed }): Drift | undefined {
    return parts.cluster.name === undefined ? undefined : new Drift(parts, limits);
  }

  private constructor(parts: DriftParts, limits: DriftLimits) {
    this.#parts = parts;
    this.#patienceMs = limits.patienceMs;
    this.#mostListed = limits.mostListed;
    const { cluster } = parts;
    this.#reg = cluster.registry.bucket('reg');
    cluster.signals.answer('diff', () => this.#answer());
    this.#reg.watch({
      on: (entry) => {
        if (!entry.key.startsWith('drift.')) return;
        const told = 'removed' in entry ? undefined : readTold(entry.value);
        if (told) this.#told.set(told.id, told.digests);
        this.#compare();
      },
      signal: this.#end.signal,
    });
    const tell = (): void => {
      this.#tell()
        .catch((error: unknown) => parts.log.debug('drift is not told', { why: messageOf(error) }))
        .finally(() => {
          if (this.#end.signal.aborted) return;
          this.#compare();
          this.#timer = setTimeout(tell, limits.tellMs).unref();
        });
    };
    tell();
  }

  close(): void {
    this.#end.abort();
    clearTimeout(this.#timer);
  }

  /** Differences that lasted: what is deployed to one member after the other is none yet. */
  findings(now = Date.now()): ClusterDrift[] {
    this.#compare(now);
    return [...this.#since]
      .filter(([, since]) => now - since >= this.#patienceMs)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([what, since]) => ({ what, since: new Date(since), sides: this.#sidesOf(what) }));
  }

  async diff(one: string, other: string): Promise<PlainDict> {
    const [a, b] = await Promise.all([this.#listOf(one), this.#listOf(other)]);
    const different = newDict();
    for (const what of [...new Set([...a.keys(), ...b.keys()])].sort()) {
      const [first, second] = [a.get(what) ?? null, b.get(what) ?? null];
      if (pack(first).equals(pack(second))) continue;
      different[what] = isTree(what)
        ? pathsOf(asDict(first) ?? {}, asDict(second) ?? {}, one, other)
        : newDict([[one, first] as const, [other, second] as const]);
    }
    return different;
  }

  /** Names and digests of everything that should be equal. */
  async #own(): Promise<Map<string, string>> {
    const digests = new Map<string, string>();
    const { raw } = this.#parts.opts;
    for (const name of equalOptions) digests.set(`option ${name}`, digestOf(raw[name] ?? null));
    for (const name of rootOptions) digests.set(environmentsOf(name), digestOf(environmentNames(raw[name])));
    for (const [name, list] of await this.#trees()) digests.set(name, treeDigest(list));
    for (const [name, text] of this.#facts()) digests.set(name, text);
    return digests;
  }

  /** Everything that is served, extensions apart: they run on minions. */
  async #trees(): Promise<Map<string, readonly Listed[]>> {
    const trees = new Map<string, readonly Listed[]>();
    for (const [env, list] of await this.#parts.files()) {
      trees.set(
        `files ${env}`,
        list.filter(({ path }) => !isExtension(path)),
      );
      trees.set(
        `extensions ${env}`,
        list.filter(({ path }) => isExtension(path)),
      );
    }
    for (const [env, list] of await this.#parts.pillars()) trees.set(`pillar ${env}`, list);
    return trees;
  }

  /** Short texts, which are told as they are. */
  #facts(): Map<string, string> {
    const { version, level } = this.#parts.cluster.self;
    const [node = ''] = process.version.split('.');
    const facts = new Map([
      ['version of Halite', version],
      ['version of Node', node],
      ['highest level of messages', String(level)],
    ]);
    for (const [name, print] of this.#parts.keys()) facts.set(name, print);
    return facts;
  }

  async #tell(): Promise<void> {
    const { self } = this.#parts.cluster;
    const digests = await this.#own();
    this.#told.set(self.id, digests);
    const value: Value = { id: self.id, digests: newDict(digests) };
    const text = digestOf(value);
    if (text === this.#last) return;
    const key = `drift.${self.slot}`;
    const entry = await this.#reg.get(key);
    await (entry ? this.#reg.update(key, value, entry.revision) : this.#reg.create(key, value));
    this.#last = text;
  }

  #compare(now = Date.now()): void {
    const live = new Set(this.#parts.cluster.members().map(({ id }) => id));
    const names = new Set([...this.#told].flatMap(([id, digests]) => (live.has(id) ? [...digests.keys()] : [])));
    for (const name of names) {
      if (this.#sidesOf(name).length < 2) continue;
      if (!this.#since.has(name)) this.#since.set(name, now);
    }
    for (const [name, since] of this.#since) {
      if (this.#sidesOf(name).length < 2) {
        this.#since.delete(name);
        this.#announced.delete(name);
      } else if (now - since >= this.#patienceMs && !this.#announced.has(name)) this.#announce(name, since);
    }
  }

  /** Every member knows it; the leader tells it. */
  #announce(what: string, since: number): void {
    this.#announced.add(what);
    if (!this.#parts.cluster.leads()) return;
    const sides = this.#sidesOf(what);
    this.#parts.log.warn('members of the cluster differ', {
      what,
      members: sides.map((side) => side.join(', ')).join(' | '),
    });
    this.#parts.bus.fire('halite/cluster/drift', { what, since: new Date(since).toISOString(), members: sides });
  }

  /** The live members, grouped by what they told; a member that told nothing is left out. */
  #sidesOf(what: string): string[][] {
    const sides = new Map<string, string[]>();
    for (const { id } of this.#parts.cluster.members()) {
      const digests = this.#told.get(id);
      if (!digests) continue;
      const digest = digests.get(what) ?? '';
      sides.set(digest, [...(sides.get(digest) ?? []), id]);
    }
    return [...sides.values()];
  }

  async *#answer(): AsyncIterable<Value> {
    for (const [what, value] of await this.#everything()) for (const part of partsOf(value)) yield [what, part];
  }

  async #everything(): Promise<Map<string, Value>> {
    const all = new Map<string, Value>();
    const { raw } = this.#parts.opts;
    for (const name of equalOptions)
      all.set(`option ${name}`, (redact(newDict([[name, raw[name] ?? null]])) as PlainDict)[name] ?? null);
    for (const name of rootOptions) all.set(environmentsOf(name), environmentNames(raw[name]));
    for (const [name, text] of this.#facts()) all.set(name, text);
    for (const [name, list] of await this.#trees())
      all.set(name, newDict(list.map(({ path, digest }) => [path, digest])));
    return all;
  }

  async #listOf(id: string): Promise<Map<string, Value>> {
    const { cluster } = this.#parts;
    if (id === cluster.self.id) return this.#everything();
    const all = new Map<string, Value>();
    let paths = 0;
    for await (const item of cluster.signals.ask(id, 'diff', null, { timeoutMs: answerMs })) {
      const [what, value = null] = Array.isArray(item) ? item : [];
      if (typeof what !== 'string' || what.length > longestName) continue;
      if (!isTree(what)) {
        if (!all.has(what)) all.set(what, value);
      } else {
        // Long lists come in parts.
        const known = asDict(all.get(what) ?? null);
        const list = known instanceof Map ? known : new Map<Value, Value>();
        for (const [path, digest] of dictEntries(asDict(value) ?? {}))
          if (typeof path === 'string' && typeof digest === 'string') list.set(path, digest);
        paths += asDict(value) ? dictEntries(asDict(value) ?? {}).length : 0;
        all.set(what, list);
      }
      if (all.size > mostDigests || paths > this.#mostListed)
        throw new HaliteError('cluster.refused', `The master ${id} answers with more than a master can have`);
    }
    return all;
  }
}

/** One message of the engine holds 1 MB: long lists of files go in parts. */
function partsOf(value: Value): Value[] {
  const entries = isDict(value) ? dictEntries(value) : [];
  if (entries.length <= 2000) return [value];
  return Array.from({ length: Math.ceil(entries.length / 2000) }, (_, n) =>
    dictOf(entries.slice(n * 2000, (n + 1) * 2000)),
  );
}

function pathsOf(
  first: PlainDict | Map<Value, Value>,
  second: PlainDict | Map<Value, Value>,
  one: string,
  other: string,
): Value {
  const [a, b] = [new Map(dictEntries(first)), new Map(dictEntries(second))];
  const changed = [...new Set([...a.keys(), ...b.keys()])].filter((path) => a.get(path) !== b.get(path)).sort();
  const lines = changed.slice(0, mostPaths).map((path): Value => {
    const where = !a.has(path) ? `only on ${other}` : !b.has(path) ? `only on ${one}` : 'differs';
    return `${visibleLine(String(path))}: ${where}`;
  });
  return changed.length > mostPaths ? [...lines, `and ${changed.length - mostPaths} more`] : lines;
}

const digestOf = (value: Value): string =>
  createHash('sha256')
    .update(pack(canonical(value)))
    .digest('base64url')
    .slice(0, 22);

/** The order of the keys of a map says nothing. */
function canonical(value: Value): Value {
  if (Array.isArray(value)) return value.map(canonical);
  if (!isDict(value)) return value;
  const entries = dictEntries(value).map(([key, item]): [Value, Value] => [key, canonical(item)]);
  return entries.sort(([a], [b]) => (String(a) < String(b) ? -1 : 1));
}

function readTold(value: Value): { id: string; digests: Digests } | undefined {
  const dict = asDict(value) ?? {};
  const id = asText(dict instanceof Map ? dict.get('id') : dict['id']);
  const told = asDict(dict instanceof Map ? dict.get('digests') : dict['digests']);
  if (!id || !told) return undefined;
  const digests = dictEntries(told).flatMap(([name, digest]): [string, string][] =>
    typeof name === 'string' && typeof digest === 'string' ? [[name, digest]] : [],
  );
  return { id, digests: new Map(digests.slice(0, mostDigests)) };
}
