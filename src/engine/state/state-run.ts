// One use of the state engine: compiles, shows and applies for the execution module `state`.
import { stat } from 'node:fs/promises';
import { type Dict, dictOf, isDict, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { messageOf } from '../../base/errors/index.ts';
import { collectBetweenSteps } from '../../base/util/small-heap.ts';
import { type Applied, type ApplyOptions, RenderError, type StateRun } from '../../extend/sdk/index.ts';
import { pythonTraceback } from '../exec/index.ts';
import { readHighCache, writeHighCache } from './cache.ts';
import { areChunks, compileForRun, compileForShow, disabledRequisites } from './call-high.ts';
import { checkResult } from './check-result.ts';
import { fromHigh, type High, isBody, textOf, toHigh } from './data.ts';
import { applyRequisitesIn } from './high/requisite-in.ts';
import { verifyHigh } from './high/verify.ts';
import { compileHigh } from './low/compile.ts';
import type { RunParts } from './open.ts';
import { StateCaller } from './run/caller.ts';
import { type RunChunksOptions, runChunks, runOneOf } from './run/run-chunks.ts';
import { verifyChunk } from './run/verify-chunk.ts';
import { pillarErrors } from './run-pillar.ts';
import { HighstateBuilder } from './sls/highstate.ts';
import { padTemplate } from './sls/template.ts';
import { tagOf } from './tags.ts';
import { TopReader } from './top/reader.ts';

const compilerError = 1;
const stateFailure = 2;
const noStatesTag = 'no_|-states_|-states_|-None';

const shownAs = (value: Value, retcode = 0): Applied => ({ return: value, retcode });
const refused = (errors: readonly Value[]): Applied => shownAs([...errors], compilerError);

export class MinionStateRun implements StateRun {
  readonly #parts: RunParts;
  readonly #builder: HighstateBuilder;
  readonly #top: TopReader;
  readonly #caller: StateCaller;

  constructor(parts: RunParts) {
    this.#parts = parts;
    const { session, files, renderer, available } = parts;
    this.#builder = new HighstateBuilder({
      files,
      renderer,
      available,
      log: session.log,
      autoOrder: session.opts['state_auto_order'] !== false,
    });
    this.#top = new TopReader(parts);
    this.#caller = new StateCaller({ session, mocked: parts.mock, instanceId: parts.instanceId });
  }

  get opts(): Readonly<Record<string, Value>> {
    return this.#parts.session.opts;
  }
  get pillar(): Dict {
    return this.#parts.session.pillar;
  }
  get pillarErrors(): readonly Value[] | undefined {
    return pillarErrors(this.pillar);
  }

  async highstate(options: ApplyOptions): Promise<Applied> {
    if (options.cache) {
      const cached = await readHighCache(this.#cacheDir, options.cacheName ?? 'highstate');
      if (cached) return this.#apply(cached);
    }
    let top: Awaited<ReturnType<TopReader['read']>>;
    try {
      top = await this.#top.read();
    } catch (thrown) {
      if (thrown instanceof RenderError) return this.#noStates(`Unable to render top file: ${thrown.message}`);
      return refused([pythonTraceback(thrown)]);
    }
    const errors: Value[] = this.#top.verify(top);
    const found = await this.#top.matches(top);
    if (found.size === 0) {
      return this.#noStates('No Top file or master_tops data matches found. Please see master log for details.');
    }
    const matches = narrowed(found, options.whitelist);
    await this.#loadDynamic([...matches.keys()]);
    if (this.pillarErrors && !options.force) {
      return refused([...errors, 'Pillar failed to render with the following messages:', ...this.pillarErrors]);
    }
    errors.push(...(await this.#builder.render(matches)));
    const { high } = this.#builder;
    exclude(high, options.exclude);
    if (errors.length > 0) return refused(errors);
    if (high.size === 0) return this.#noStates('No states found for this minion');
    await this.#keep(options);
    return this.#apply(high);
  }

  async sls(mods: readonly string[], options: ApplyOptions): Promise<Applied> {
    if (options.cache) {
      const cached = await readHighCache(this.#cacheDir, options.cacheName ?? 'highstate');
      if (cached) return this.#apply(cached);
    }
    const errors = await this.#builder.render(this.#matchesOf(mods));
    if (errors.length > 0) return refused(errors);
    exclude(this.#builder.high, options.exclude);
    const applied = await this.#apply(this.#builder.high);
    await this.#keep(options);
    return applied;
  }

  async slsId(id: string, mods: readonly string[]): Promise<Applied> {
    const { high } = this.#builder;
    const errors = await this.#builder.render(this.#matchesOf(mods));
    errors.push(...verifyHigh(high), ...applyRequisitesIn(high, this.#disabled));
    if (errors.length > 0) return refused(errors);
    const chunks = compileHigh(high);
    const found = newDict();
    for (const chunk of chunks) {
      if (chunk['__id__'] === id) Object.assign(found, await runOneOf(chunk, chunks, this.#runOptions(high)));
    }
    return this.#judged(found);
  }

  high(data: Dict): Promise<Applied> {
    return this.#apply(toHigh(data));
  }

  async low(data: PlainDict): Promise<Value> {
    const errors = await verifyChunk(this.#parts.session, data);
    return errors.length > 0 ? errors : this.#caller.call(data);
  }

  async single(low: PlainDict): Promise<Applied> {
    const errors = await verifyChunk(this.#parts.session, low);
    if (errors.length > 0) return refused(errors);
    const tag = tagOf(low);
    const found = await this.#parts.session.find(`${textOf(low['state'])}.${textOf(low['fun'])}`);
    const scene = { chunks: [], running: {} };
    await found?.module.extension.modInit?.(low, this.#caller.contextFor(low, scene));
    return this.#judged(newDict([[tag, await this.#caller.call(low)]]));
  }

  async template(path: string, saltenv: string): Promise<Applied> {
    const file = await stat(path).catch(() => undefined);
    if (!file?.isFile()) return refused([`Specified SLS ${path} on local filesystem cannot be found.`]);
    const { state, errors } = await this.#builder.renderLocal(path, saltenv);
    return errors.length > 0 ? refused(errors) : this.#apply(state);
  }

  async templateText(text: string): Promise<Applied> {
    const rendered = await this.#parts.renderer.renderText(text);
    const padded = padTemplate(rendered, '<template-str>');
    if (padded === undefined) return shownAs(newDict(), stateFailure);
    return padded.errors.length > 0 ? refused(padded.errors) : this.#apply(padded.high);
  }

  async showTop(): Promise<Applied> {
    const top = await this.#top.read();
    const errors = this.#top.verify(top);
    if (errors.length > 0) return refused(errors);
    const matches = await this.#top.matches(top);
    return shownAs(dictOf([...matches].map(([saltenv, names]) => [saltenv, [...names]] as const)));
  }

  async showHighstate(): Promise<Applied> {
    const top = await this.#top.read();
    const errors = this.#top.verify(top);
    errors.push(...(await this.#builder.render(await this.#top.matches(top))));
    return errors.length > 0 ? refused(errors) : this.#judged(fromHigh(this.#builder.high));
  }

  async showLowstate(): Promise<Applied> {
    return shownAs([...(await this.lowFor(undefined))]);
  }

  async showSls(mods: readonly string[]): Promise<Applied> {
    const errors = await this.#builder.render(this.#matchesOf(mods));
    errors.push(...verifyHigh(this.#builder.high));
    return errors.length > 0 ? refused(errors) : shownAs(fromHigh(this.#builder.high));
  }

  async showLowSls(mods: readonly string[]): Promise<Applied> {
    const errors = await this.#builder.render(this.#matchesOf(mods));
    errors.push(...verifyHigh(this.#builder.high));
    return errors.length > 0 ? refused(errors) : shownAs(compileHigh(this.#builder.high));
  }

  async lowFor(mods: readonly string[] | undefined): Promise<PlainDict[] | string[]> {
    const matches = mods ? this.#matchesOf(mods) : await this.#top.matches(await this.#top.read());
    const errors = await this.#builder.render(matches);
    return compileForShow(this.#builder.high, errors, this.#disabled);
  }

  async graph(mods: readonly string[] | undefined, format: 'dot' | 'svg'): Promise<Applied> {
    const chunks = await this.lowFor(mods);
    if (!areChunks(chunks)) return refused(chunks);
    const { stateGraph } = await import('./graph/model.ts');
    const graph = stateGraph(chunks);
    if (format === 'dot') return shownAs((await import('./graph/dot.ts')).toDot(graph));
    return shownAs((await import('./graph/svg.ts')).toSvg(graph));
  }

  async stateUsage(): Promise<Applied> {
    const top = await this.#top.read();
    const errors = this.#top.verify(top);
    if (errors.length > 0) return refused(errors);
    const matches = await this.#top.matches(top);
    const usage = newDict();
    for (const [saltenv, names] of await this.#parts.available.all()) {
      const used = new Set(matches.get(saltenv) ?? []);
      const [yes, no] = [[...names].filter((name) => used.has(name)), [...names].filter((name) => !used.has(name))];
      usage[saltenv] = newDict([
        ['used', yes],
        ['unused', no],
        ['count_all', names.size],
        ['count_used', yes.length],
        ['count_unused', no.length],
      ]);
    }
    return this.#judged(usage);
  }

  get #cacheDir(): string {
    return textOf(this.opts['cachedir'] ?? '');
  }

  get #disabled(): ReadonlySet<string> {
    return disabledRequisites(this.opts['disabled_requisites']);
  }

  #matchesOf(mods: readonly string[]): Map<string, readonly string[]> {
    const saltenv = this.opts['saltenv'] ?? null;
    return new Map([[saltenv === null ? 'base' : textOf(saltenv), mods]]);
  }

  #noStates(comment: string): Applied {
    const result = newDict([
      ['result', false],
      ['comment', comment],
      ['name', 'No States'],
      ['changes', newDict()],
      ['__run_num__', 0],
    ]);
    return shownAs(newDict([[noStatesTag, result]]), stateFailure);
  }

  async #keep({ cacheName = 'highstate' }: ApplyOptions): Promise<void> {
    if (this.#cacheDir === '') return;
    await writeHighCache(this.#cacheDir, cacheName, this.#builder.high, this.#parts.session.log);
  }

  /** `autoload_dynamic_modules`: users' extensions come along with the states that need them. */
  async #loadDynamic(saltenvs: readonly string[]): Promise<void> {
    const { session } = this.#parts;
    if (this.opts['autoload_dynamic_modules'] === false) return;
    try {
      const synced = await session
        .context()
        .callWith('saltutil.sync_all', [[...saltenvs]], newDict([['refresh', false]]));
      if (!isDict(synced)) return;
      const lists = synced instanceof Map ? [...synced.values()] : Object.values(synced);
      if (!lists.some((list) => Array.isArray(list) && list.length > 0)) return;
      const grains = synced instanceof Map ? synced.get('grains') : synced['grains'];
      const fresh = Array.isArray(grains) && grains.length > 0;
      await session.reload({ modules: true, grains: fresh, pillar: fresh });
    } catch (error) {
      session.log.error('The extensions of users could not be brought up to date', { error: messageOf(error) });
    }
  }

  async #apply(high: High): Promise<Applied> {
    const chunks = compileForRun(high, this.#disabled, this.#parts.orchestrationJid);
    if (!areChunks(chunks)) return refused(chunks);
    collectBetweenSteps();
    const results = await runChunks(chunks, this.#runOptions(high));
    return this.#judged(results as PlainDict, high);
  }

  #runOptions(high: High): RunChunksOptions {
    const processed = new Set(this.#builder.processed);
    for (const body of high.values()) {
      const sls = isBody(body) ? body.get('__sls__') : undefined;
      if (typeof sls === 'string') processed.add(sls);
    }
    const { jid, id, instanceId } = this.#parts;
    return { caller: this.#caller, processed, jid, id, instanceId };
  }

  #judged(value: Dict, high?: High): Applied {
    return shownAs(value, checkResult(value, high) ? 0 : stateFailure);
  }
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
