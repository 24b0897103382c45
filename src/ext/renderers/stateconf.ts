// Renderer `stateconf`: SLS files with parameters, local ids, implicit order and a goal state.
import {
  type Dict,
  defineRenderer,
  dictEntries,
  dictGet,
  dictOf,
  isDict,
  newDict,
  RenderError,
  type RendererContext,
  type Value,
} from 'halite/sdk';
import { pyRegexSearch } from 'halite/sdk/text';
import { closeHigh, type High, Misshapen, openHigh, stateName } from './shared/stateconf-data.ts';
import {
  absoluteIds,
  absoluteIncludes,
  addGoal,
  addStart,
  type Extended,
  type Names,
  requireInOrder,
  spellOutShorthand,
} from './shared/stateconf-rewrite.ts';

type Parameters = Map<string, Map<Value, Value>>;

/** Data that the files of one run share. */
interface Memory {
  readonly parameters: Parameters;
  /** Values given by `extend`, for later files. */
  readonly overrides: Parameters;
  readonly extended: Extended;
}

interface Options {
  readonly goal: boolean;
  readonly ordered: boolean;
  readonly start: boolean;
  readonly isData: boolean;
  readonly rest: string;
}

const memories = new WeakMap<object, Memory>();

function memoryOf(run: object | undefined): Memory {
  const known = run && memories.get(run);
  if (known) return known;
  const fresh = { parameters: new Map(), overrides: new Map(), extended: { before: new Map(), after: new Map() } };
  if (run) memories.set(run, fresh);
  return fresh;
}

function namesOf(opts: RendererContext['opts']): Names {
  const text = (name: string, fallback: string): string => {
    const value = opts[name];
    return typeof value === 'string' && value !== '' ? value : fallback;
  };
  return {
    carrier: text('stateconf_state_func', 'stateconf.set'),
    start: text('stateconf_start_state', '.start'),
    goal: text('stateconf_goal_state', '.goal'),
  };
}

/** The leading options (letters after a dash); the rest names the two renderers. */
function optionsOf(argline: string): Options {
  const words = argline.split(/\s+/).filter((word) => word !== '');
  const letters = new Set<string>();
  while (/^-./.test(words[0] ?? '')) {
    const word = words.shift() as string;
    if (word === '--') break;
    for (const letter of word.slice(1)) {
      if (!'Gosp'.includes(letter))
        throw new RenderError(`option -${letter} not recognized`, {}, { pyType: 'GetoptError' });
      letters.add(letter);
    }
  }
  return {
    goal: !letters.has('G'),
    ordered: letters.has('o'),
    start: letters.has('s'),
    isData: letters.has('p'),
    rest: words.length > 0 ? words.join(' ') : 'yaml . jinja',
  };
}

interface Step {
  readonly name: string;
  readonly argline: string;
}

/** `yaml -x . jinja -y`: the data renderer, and after the dot the template renderer. */
function stepsOf({ rest, ordered }: Options): { readonly data: Step; readonly template: Step } {
  const found = /^(.*?)\s+\.\s+(.*)$/s.exec(rest);
  if (!found) {
    throw new RenderError(
      'Invalid use of stateconf.py renderer!\nUsage: #!stateconf [-Gosp] [<data renderer> [options] . <template renderer> [options]]',
      {},
      {
        hint: 'Write "#!stateconf yaml . jinja": -G no goal state, -o states in order, -s a start state, -p data instead of text.',
      },
    );
  }
  const [data, template] = [found[1], found[2]].map((part): Step => {
    const [name = '', ...args] = (part ?? '').trim().replaceAll('\\.', '.').split(' ');
    return { name, argline: args.join(' ').trim() };
  }) as [Step, Step];
  if (ordered && data.name !== 'yaml') {
    throw new RenderError('Implicit ordering is only supported if the yaml renderer is used!');
  }
  return { data, template };
}

class StateConf {
  readonly #ctx: RendererContext;
  readonly #options: Options;
  readonly #names: Names;
  readonly #memory: Memory;

  constructor(ctx: RendererContext) {
    this.#ctx = ctx;
    this.#options = optionsOf(ctx.argline);
    this.#names = namesOf(ctx.opts);
    this.#memory = memoryOf(ctx.run);
  }

  async render(source: Value): Promise<Value> {
    if (this.#options.isData) return this.#rewrite(source, false);
    if (typeof source !== 'string')
      throw new RenderError('The renderer stateconf takes data only with -p', { file: this.#ctx.path });
    const marker = endMarker(this.#ctx.opts);
    const end = source.search(marker);
    // The part above the marker defines the parameters; the whole file is then rendered with them.
    if (end >= 0) await this.#data(source.slice(0, end), newDict(), true);
    return this.#data(source, this.#parameters(), false);
  }

  /** The variables of a template: names of its own file without the prefix of the file. */
  #parameters(): Record<string, Value> {
    const own = `${this.#ctx.sls}::`;
    const names = newDict();
    for (const [id, values] of this.#memory.parameters) {
      names[id.startsWith(own) ? id.slice(own.length) : id] = dictOf([...values]);
    }
    return names;
  }

  async #data(source: string, parameters: Record<string, Value>, extract: boolean): Promise<Value> {
    const { sls } = this.#ctx;
    const { data, template } = stepsOf(this.#options);
    const folder = sls.includes('.') ? sls.slice(0, sls.lastIndexOf('.')).replaceAll('.', '/') : sls;
    const variables = newDict([['sls_dir', folder || '.'], ...Object.entries(parameters)]);
    const text = await this.#step(template, source, variables);
    return this.#rewrite(await this.#step(data, text, undefined), extract);
  }

  async #step(step: Step, source: Value, variables: Record<string, Value> | undefined): Promise<Value> {
    const value = await this.#ctx.renderWith(step.name, source, {
      argline: step.argline,
      ...(variables ? { variables } : {}),
    });
    if (value === undefined) throw new RenderError(`Renderer: '${step.name}.render' is not available!`);
    return value;
  }

  #rewrite(source: Value, extract: boolean): Value {
    const { sls, saltenv, path } = this.#ctx;
    try {
      const high = openHigh(source, 'the file');
      spellOutShorthand(high);
      absoluteIncludes(high, sls, saltenv);
      if (!extract && this.#options.ordered) requireInOrder(high, this.#memory.extended);
      if (this.#options.start) addStart(high, sls, this.#names);
      if (!extract && this.#options.goal) addGoal(high, this.#names);
      absoluteIds(high, sls, this.#names);
      this.#extract(high);
      return closeHigh(high);
    } catch (error) {
      if (!(error instanceof Misshapen)) throw error;
      const hint = `This is no state data: ${error.message}.`;
      throw new RenderError('sls preprocessing/rendering failed!', { file: path }, { hint, cause: error });
    }
  }

  /** Stores the values of `stateconf.set`; values of another file's `extend` take precedence. */
  #extract(high: High): void {
    const { parameters, overrides } = this.#memory;
    const extend = high.get('extend');
    if (extend !== undefined)
      for (const [id, states] of openHigh(extend, 'extend')) this.#collect(overrides, id, states);
    for (const [id, states] of high) {
      if (id === 'extend' || !this.#collect(parameters, id, states)) continue;
      const mine = parameters.get(id) as Map<Value, Value>;
      const given = overrides.get(id);
      if (!given) continue;
      for (const name of ['require', 'watch', 'listen', 'onchanges', 'onfail']) {
        const [theirs, own] = [given.get(name), mine.get(name)];
        // As in Salt: in place, so that the extending file shows them too.
        if (Array.isArray(theirs) && Array.isArray(own)) theirs.push(...own.slice());
      }
      for (const [name, value] of given) mine.set(name, value);
    }
  }

  #collect(into: Parameters, id: string, states: Value): boolean {
    const { carrier } = this.#names;
    const args = isDict(states) ? (dictGet(states, stateName(carrier)) ?? dictGet(states, carrier)) : undefined;
    if (args === undefined) return false;
    const values = into.get(id) ?? new Map<Value, Value>();
    into.set(id, values);
    for (const item of Array.isArray(args) ? args : []) {
      const first = isDict(item) ? dictEntries(item as Dict)[0] : undefined;
      if (first) values.set(first[0], first[1]);
    }
    return true;
  }
}

function endMarker(opts: RendererContext['opts']): RegExp {
  const own = opts['stateconf_end_marker'];
  if (typeof own !== 'string' || own === '') return /#\s*-+\s*end of state config\s*-+/;
  try {
    return pyRegexSearch(own);
  } catch (error) {
    throw new RenderError(`The option stateconf_end_marker is no regular expression: ${String(error)}`);
  }
}

export default defineRenderer({
  name: 'stateconf',
  doc: 'State files with parameters (stateconf.set), local ids (.id), implicit order (-o), a start state (-s) and a goal state (without -G); -p reads the data of the preceding renderer.',
  input: 'any',
  output: 'data',
  render: (source, ctx) => new StateConf(ctx).render(source),
});
