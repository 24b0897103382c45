// Shows what would be applied: top data, high data, low data, the graph of requisites.
import { dictOf, newDict, type Value } from '../../base/codec/value.ts';
import type { Applied, CompiledStates, StateShow } from '../../extend/sdk/index.ts';
import { judged, refused, shownAs } from './applied.ts';
import { compileAsWritten, compileForShow, disabledRequisites } from './compile.ts';
import { fromHigh } from './data.ts';
import { verifyHigh } from './high/verify.ts';
import type { AvailableStates } from './sls/available.ts';
import { type HighstateBuilder, matchesOf } from './sls/highstate.ts';
import type { TopReader } from './top/reader.ts';

export interface ShowParts {
  readonly opts: Readonly<Record<string, Value>>;
  readonly builder: HighstateBuilder;
  readonly top: TopReader;
  readonly available: AvailableStates;
}

export class ShowStates implements StateShow {
  readonly #parts: ShowParts;

  constructor(parts: ShowParts) {
    this.#parts = parts;
  }

  async top(): Promise<Applied> {
    const { top: reader } = this.#parts;
    const top = await reader.read();
    const errors = reader.verify(top);
    if (errors.length > 0) return refused(errors);
    const matches = await reader.matches(top);
    return shownAs(dictOf([...matches].map(([saltenv, names]) => [saltenv, [...names]] as const)));
  }

  async highstate(): Promise<Applied> {
    const { top: reader, builder } = this.#parts;
    const top = await reader.read();
    const errors = reader.verify(top);
    errors.push(...(await builder.render(await reader.matches(top))));
    return errors.length > 0 ? refused(errors) : judged(fromHigh(builder.high));
  }

  async sls(mods: readonly string[]): Promise<Applied> {
    const { builder, opts } = this.#parts;
    const errors = await builder.render(matchesOf(mods, opts));
    errors.push(...verifyHigh(builder.high));
    return errors.length > 0 ? refused(errors) : shownAs(fromHigh(builder.high));
  }

  async lowstate(mods?: readonly string[]): Promise<CompiledStates> {
    const { top: reader, builder, opts } = this.#parts;
    const matches = mods ? matchesOf(mods, opts) : await reader.matches(await reader.read());
    const errors = await builder.render(matches);
    return compileForShow(builder.high, errors, disabledRequisites(opts['disabled_requisites']));
  }

  async lowSls(mods: readonly string[]): Promise<CompiledStates> {
    const { builder, opts } = this.#parts;
    const errors = await builder.render(matchesOf(mods, opts));
    return compileAsWritten(builder.high, errors);
  }

  async graph(mods: readonly string[] | undefined, format: 'dot' | 'svg'): Promise<Applied> {
    const low = await this.lowstate(mods);
    if (low.kind === 'errors') return refused(low.errors);
    const { stateGraph } = await import('./graph/model.ts');
    const graph = stateGraph(low.chunks);
    if (format === 'dot') return shownAs((await import('./graph/dot.ts')).toDot(graph));
    return shownAs((await import('./graph/svg.ts')).toSvg(graph));
  }

  async usage(): Promise<Applied> {
    const { top: reader, available } = this.#parts;
    const top = await reader.read();
    const errors = reader.verify(top);
    if (errors.length > 0) return refused(errors);
    const matches = await reader.matches(top);
    const usage = newDict();
    for (const [saltenv, names] of await available.all()) {
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
    return judged(usage);
  }
}
