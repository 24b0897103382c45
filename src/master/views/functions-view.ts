// The functions that can be called, with their parameters and documentation, for forms and completion. They are read in
// a job process of the master, once in a while: the master itself loads no module for this.
import { textField } from '../../base/codec/fields.ts';
import { asList, asPlainDict, dictGet, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import type { MasterServices, Registry } from '../../extend/sdk/index.ts';
import type { ViewRights } from '../authorization/view-rights.ts';
import { wrongChoice } from './job-view.ts';
import { pageValue, readPage, sortOf, sortRows, wordsOf } from './page.ts';

export interface FunctionViewParts {
  readonly services: Pick<MasterServices, 'callModule'>;
  /** Of the master: for wheel functions. */
  registry(): Registry;
}

type Kind = 'modules' | 'runners' | 'wheel';

interface Known {
  readonly name: string;
  readonly kind: Kind;
  readonly doc: string;
  readonly args: readonly PlainDict[];
}

const freshMs = 600_000;
const patienceMs = 60_000;
const longestDoc = 4_000;
const kinds: readonly Kind[] = ['modules', 'runners', 'wheel'];
const cols = ['name', 'kind', 'may', 'args', 'doc'];

export class FunctionView {
  readonly #parts: FunctionViewParts;
  #known: Promise<readonly Known[]> | undefined;
  #at = 0;

  constructor(parts: FunctionViewParts) {
    this.#parts = parts;
  }

  async page(rights: ViewRights, args: PlainDict): Promise<PlainDict> {
    const request = readPage(args);
    const kind = textField(args, 'kind') ?? '';
    if (kind !== '' && !kinds.some((each) => each === kind)) throw wrongChoice('kind', kinds);
    const words = wordsOf(request.q);
    const found = (await this.#all()).filter(
      (each) =>
        (kind === '' || each.kind === kind) &&
        words.every((word) => each.name.toLowerCase().includes(word) || each.doc.toLowerCase().includes(word)),
    );
    const { column, down } = sortOf(request.sort, cols.slice(0, 2));
    // What is named like the search comes before what only mentions it.
    const rank = ({ name }: Known): number => (words.every((word) => name.toLowerCase().includes(word)) ? 0 : 1);
    const sorted = sortRows(
      [...found],
      (each) => (column === 1 ? each.kind : each.name),
      ({ name }) => name,
      down,
    );
    if (request.sort === '') sorted.sort((a, b) => rank(a) - rank(b));
    return pageValue({
      ...{ total: sorted.length, offset: request.offset, cols, version: this.#at },
      rows: sorted
        .slice(request.offset, request.offset + request.limit)
        .map((each) => [each.name, each.kind, mayOf(rights, each), [...each.args], each.doc]),
    });
  }

  #all(): Promise<readonly Known[]> {
    if (this.#known && Date.now() - this.#at < freshMs) return this.#known;
    this.#at = Date.now();
    const known = this.#read();
    this.#known = known;
    known.catch(() => {
      if (this.#known === known) this.#known = undefined;
    });
    return known;
  }

  async #read(): Promise<readonly Known[]> {
    const [modules, runners, wheel] = await Promise.all([
      this.#described('modules', 'sys.argspec', 'sys.doc'),
      this.#described('runners', 'sys.runner_argspec', 'sys.runner_doc'),
      this.#wheel(),
    ]);
    return [...modules, ...runners, ...wheel];
  }

  async #described(kind: Kind, argspec: string, doc: string): Promise<Known[]> {
    const [specs, docs] = await Promise.all([this.#call(argspec, ['*']), this.#call(doc, [])]);
    return Object.entries(specs).map(([name, spec]) => ({
      ...{ name, kind, doc: String(docs[name] ?? '').slice(0, longestDoc) },
      args: parametersOf(asPlainDict(spec) ?? newDict()),
    }));
  }

  async #call(fun: string, args: readonly Value[]): Promise<PlainDict> {
    const signal = AbortSignal.timeout(patienceMs);
    const quiet = { signal, progress: () => undefined, print: () => undefined };
    const outcome = await this.#parts.services.callModule(fun, args, newDict(), quiet);
    const found = outcome.success ? asPlainDict(outcome.return) : undefined;
    if (!found) throw new HaliteError('call.failed', 'The list of functions could not be read.');
    return found;
  }

  async #wheel(): Promise<Known[]> {
    const registry = this.#parts.registry();
    const infos = await Promise.all(
      (await registry.functionNames('wheel')).map((name) => registry.functionInfo('wheel', name)),
    );
    return infos.flatMap((info): Known[] => {
      if (!info) return [];
      const args = Object.entries(info.params).map(([name, param]) =>
        newDict([
          ['name', name],
          ['required', param.required],
          ['default', param.required ? null : param.default],
        ]),
      );
      return [{ name: info.name, kind: 'wheel', doc: info.doc.slice(0, longestDoc), args }];
    });
  }
}

/** From the form of `sys.argspec`: the last arguments have the defaults. */
function parametersOf(spec: PlainDict): PlainDict[] {
  const names = asList(dictGet(spec, 'args')) ?? [];
  const defaults = asList(dictGet(spec, 'defaults')) ?? [];
  const required = names.length - defaults.length;
  const named = names.map((name, at) =>
    newDict([
      ['name', String(name)],
      ['required', at < required],
      ['default', at < required ? null : (defaults[at - required] ?? null)],
    ]),
  );
  const rest = dictGet(spec, 'varargs') === true ? ['*args'] : [];
  const any = dictGet(spec, 'kwargs') === true ? ['**kwargs'] : [];
  return [
    ...named,
    ...[...rest, ...any].map((name) =>
      newDict([
        ['name', name],
        ['required', false],
        ['default', null],
      ]),
    ),
  ];
}

function mayOf(rights: ViewRights, { kind, name }: Known): string {
  if (kind === 'modules') return rights.reach(name);
  return rights.mayCall(kind, name) ? 'all' : 'none';
}
