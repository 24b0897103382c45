// Applies states for the execution module `state`: from the top file, SLS files, high data or a template.

import { stat } from 'node:fs/promises';
import { pyStr } from '../../base/codec/python/index.ts';
import { type Dict, dictGet, isDict, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { messageOf } from '../../base/errors/index.ts';
import { collectBetweenSteps } from '../../base/util/small-heap.ts';
import { type Applied, type ApplyOptions, RenderError, type StateApply } from '../../extend/sdk/index.ts';
import { pythonTraceback } from '../exec/index.ts';
import { judged, refused, shownAs, stateFailure } from './applied.ts';
import { readHighCache, writeHighCache } from './cache.ts';
import { compileForOne, compileForRun, disabledRequisites } from './compile.ts';
import { type High, isBody, toHigh } from './data.ts';
import type { StateCaller } from './run/caller.ts';
import { type ChunkRun, type RunIdentity, runChunks, runOneOf } from './run/run-chunks.ts';
import type { RunNumbers } from './run/run-numbers.ts';
import type { StateSession } from './run/session.ts';
import { verifyChunk } from './run/verify-chunk.ts';
import { pillarErrors } from './run-pillar.ts';
import { type HighstateBuilder, matchesOf } from './sls/highstate.ts';
import { padTemplate } from './sls/template.ts';
import type { SlsRenderer } from './sources.ts';
import { tagOf } from './tags.ts';
import type { TopReader } from './top/reader.ts';

const noStatesTag = 'no_|-states_|-states_|-None';

export interface ApplyParts {
  readonly identity: RunIdentity;
  readonly orchestrationJid: Value | undefined;
  readonly session: StateSession;
  readonly builder: HighstateBuilder;
  readonly top: TopReader;
  readonly renderer: SlsRenderer;
  readonly caller: StateCaller;
  readonly numbers: RunNumbers;
}

export class ApplyStates implements StateApply {
  readonly #parts: ApplyParts;

  constructor(parts: ApplyParts) {
    this.#parts = parts;
  }

  async highstate(options: ApplyOptions): Promise<Applied> {
    const cached = await this.#cached(options);
    if (cached) return this.#apply(cached);
    const { top: reader, builder, session } = this.#parts;
    let top: Awaited<ReturnType<TopReader['read']>>;
    try {
      top = await reader.read();
    } catch (thrown) {
      if (thrown instanceof RenderError) return noStates(`Unable to render top file: ${thrown.message}`);
      return refused([pythonTraceback(thrown)]);
    }
    const errors: Value[] = reader.verify(top);
    const found = await reader.matches(top);
    if (found.size === 0) {
      return noStates('No Top file or master_tops data matches found. Please see master log for details.');
    }
    const matches = narrowed(found, options.whitelist);
    await this.#loadDynamic([...matches.keys()]);
    const broken = pillarErrors(session.pillar);
    if (broken && !options.force) {
      return refused([...errors, 'Pillar failed to render with the following messages:', ...broken]);
    }
    errors.push(...(await builder.render(matches)));
    exclude(builder.high, options.exclude);
    if (errors.length > 0) return refused(errors);
    if (builder.high.size === 0) return noStates('No states found for this minion');
    await this.#cache(options);
    return this.#apply(builder.high);
  }

  async sls(mods: readonly string[], options: ApplyOptions): Promise<Applied> {
    const cached = await this.#cached(options);
    if (cached) return this.#apply(cached);
    const { builder } = this.#parts;
    const errors = await builder.render(this.#matchesOf(mods));
    if (errors.length > 0) return refused(errors);
    exclude(builder.high, options.exclude);
    const applied = await this.#apply(builder.high);
    await this.#cache(options);
    return applied;
  }

  async slsId(id: string, mods: readonly string[]): Promise<Applied> {
    const { builder } = this.#parts;
    const errors = await builder.render(this.#matchesOf(mods));
    const compiled = compileForOne(builder.high, errors, this.#disabled);
    if (compiled.kind === 'errors') return refused(compiled.errors);
    const found = newDict();
    for (const chunk of compiled.chunks) {
      if (chunk['__id__'] !== id) continue;
      Object.assign(found, await runOneOf(chunk, compiled.chunks, this.#runOf(builder.high)));
    }
    return judged(found);
  }

  high(data: Dict): Promise<Applied> {
    return this.#apply(toHigh(data));
  }

  async low(data: PlainDict): Promise<Applied> {
    const errors = await verifyChunk(this.#parts.session, data);
    return errors.length > 0 ? refused(errors) : shownAs(await this.#parts.caller.call(data));
  }

  async single(low: PlainDict): Promise<Applied> {
    const { session, caller } = this.#parts;
    const errors = await verifyChunk(session, low);
    if (errors.length > 0) return refused(errors);
    const tag = tagOf(low);
    const found = await session.find(`${pyStr(low['state'])}.${pyStr(low['fun'])}`);
    const scene = { chunks: [], running: {} };
    await found?.module.extension.modInit?.(low, caller.contextFor(low, scene));
    return judged(newDict([[tag, await caller.call(low)]]));
  }

  async template(path: string, saltenv: string): Promise<Applied> {
    const file = await stat(path).catch(() => undefined);
    if (!file?.isFile()) return refused([`Specified SLS ${path} on local filesystem cannot be found.`]);
    const { state, errors } = await this.#parts.builder.renderLocal(path, saltenv);
    return errors.length > 0 ? refused(errors) : this.#apply(state);
  }

  async templateText(text: string): Promise<Applied> {
    const rendered = await this.#parts.renderer.renderText(text);
    const padded = padTemplate(rendered, '<template-str>');
    if (padded === undefined) return shownAs(newDict(), stateFailure);
    return padded.errors.length > 0 ? refused(padded.errors) : this.#apply(padded.high);
  }

  get #cacheDir(): string {
    return pyStr(this.#parts.session.opts['cachedir'] ?? '');
  }

  get #disabled(): ReadonlySet<string> {
    return disabledRequisites(this.#parts.session.opts['disabled_requisites']);
  }

  #matchesOf(mods: readonly string[]): Map<string, readonly string[]> {
    return matchesOf(mods, this.#parts.session.opts);
  }

  /** The high data of the last run, where that is requested. */
  async #cached({ cache, cacheName = 'highstate' }: ApplyOptions): Promise<High | undefined> {
    return cache ? readHighCache(this.#cacheDir, cacheName) : undefined;
  }

  async #cache({ cacheName = 'highstate' }: ApplyOptions): Promise<void> {
    const { builder, session } = this.#parts;
    if (this.#cacheDir === '') return;
    await writeHighCache(this.#cacheDir, cacheName, builder.high, session.log);
  }

  /** `autoload_dynamic_modules`: updates users' extensions before the states that need them. */
  async #loadDynamic(saltenvs: readonly string[]): Promise<void> {
    const { session } = this.#parts;
    if (session.opts['autoload_dynamic_modules'] === false) return;
    try {
      const synced = await session
        .context()
        .callWith('saltutil.sync_all', [[...saltenvs]], newDict([['refresh', false]]));
      if (!isDict(synced)) return;
      const lists = synced instanceof Map ? [...synced.values()] : Object.values(synced);
      if (!lists.some((list) => Array.isArray(list) && list.length > 0)) return;
      const grains = dictGet(synced, 'grains');
      const fresh = Array.isArray(grains) && grains.length > 0;
      await session.reload({ modules: true, grains: fresh, pillar: fresh });
    } catch (error) {
      session.log.error('The extensions of users could not be updated', { error: messageOf(error) });
    }
  }

  async #apply(high: High): Promise<Applied> {
    const compiled = compileForRun(high, this.#disabled, this.#parts.orchestrationJid);
    if (compiled.kind === 'errors') return refused(compiled.errors);
    collectBetweenSteps();
    const results = await runChunks(compiled.chunks, this.#runOf(high));
    return judged(results as PlainDict, high);
  }

  #runOf(high: High): ChunkRun {
    const { builder, identity, session, caller, numbers } = this.#parts;
    const processed = new Set(builder.processed);
    for (const body of high.values()) {
      const sls = isBody(body) ? body.get('__sls__') : undefined;
      if (typeof sls === 'string') processed.add(sls);
    }
    return { identity, session, caller, numbers, processed };
  }
}

function noStates(comment: string): Applied {
  const result = newDict([
    ['result', false],
    ['comment', comment],
    ['name', 'No States'],
    ['changes', newDict()],
    ['__run_num__', 0],
  ]);
  return shownAs(newDict([[noStatesTag, result]]), stateFailure);
}

function narrowed(matches: Map<string, string[]>, whitelist: readonly string[] | undefined): Map<string, string[]> {
  if (!whitelist || whitelist.length === 0) return matches;
  const kept = new Map<string, string[]>();
  for (const [saltenv, names] of matches) {
    const listed = names.filter((name) => whitelist.includes(name));
    if (listed.length > 0) kept.set(saltenv, listed);
  }
  return kept;
}

function exclude(high: High, items: readonly Value[] | undefined): void {
  if (!items || items.length === 0) return;
  const before = high.get('__exclude__');
  if (Array.isArray(before)) before.push(...items);
  else high.set('__exclude__', [...items]);
}
