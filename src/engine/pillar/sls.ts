// Pillar SLS files: rendered, their includes followed, and merged.
import {
  asDict,
  asList,
  asText,
  type Dict,
  dictEntries,
  dictGet,
  dictHas,
  dictOf,
  isDict,
  type Value,
} from '../../base/codec/value.ts';
import { messageOf } from '../../base/errors/index.ts';
import { renderFile } from '../render/index.ts';
import type { Compilation } from './compilation.ts';
import { without } from './merge.ts';
import type { StateFile } from './roots.ts';
import type { Top } from './top.ts';

/** SLS rendered so far in one environment: name → its own data, null when it failed. */
type Rendered = Map<string, Value>;

interface Asked {
  readonly sls: string;
  readonly saltenv: string;
  /** Variables for the template (`defaults` of an include). */
  readonly defaults: Dict | undefined;
  readonly under?: readonly string[];
  readonly includedBy?: string;
}

interface Outcome {
  readonly data: Value;
  readonly errors: readonly string[];
}

const deepestInclude = 100;

/** The pillar of the matched SLS, environment by environment. */
export async function renderPillar(
  compilation: Compilation,
  matched: ReadonlyMap<string, readonly string[]>,
  ignored: Top['ignored'],
): Promise<Dict> {
  const { errors, merge, host } = compilation;
  let pillar: Dict = compilation.override;
  for (const saltenv of inOrder(compilation, matched)) {
    const reader = new SlsReader(compilation, ignored);
    for (const sls of await reader.expand(matched.get(saltenv) ?? [], saltenv)) {
      const { data, errors: found } = await reader.render({ sls, saltenv, defaults: undefined }, 0);
      for (const text of found) errors.add(text);
      if (data === null) continue;
      if (isDict(data)) pillar = merge(pillar, data);
      else host.log.error(`The rendered pillar sls file, '${sls}' state did not return the expected data format.`);
    }
  }
  return pillar;
}

/** `env_order` first, then the others in their order. */
function inOrder({ opts }: Compilation, matched: ReadonlyMap<string, unknown>): string[] {
  const listed = opts['env_order'];
  const first = (asList(listed) ?? []).map(String).filter((name) => matched.has(name));
  return [...new Set([...first, ...matched.keys()])];
}

class SlsReader {
  readonly #compilation: Compilation;
  readonly #ignored: Top['ignored'];
  readonly #rendered: Rendered = new Map();

  constructor(compilation: Compilation, ignored: Top['ignored']) {
    this.#compilation = compilation;
    this.#ignored = ignored;
  }

  /** Names of a top file with expanded wildcards. */
  async expand(names: readonly string[], saltenv: string): Promise<string[]> {
    const found: string[] = [];
    for (const name of names) {
      const fitting = await this.#compilation.roots.matching(name, saltenv);
      if (fitting === undefined) this.#compilation.errors.add(noEnvironment(saltenv));
      found.push(...(fitting && fitting.length > 0 ? fitting : [name]));
    }
    return found;
  }

  /** One SLS with all it includes. */
  async render(asked: Asked, depth: number): Promise<Outcome> {
    const { sls, saltenv } = asked;
    const file = await this.#compilation.roots.state(sls, saltenv);
    if (!file) return this.#missing(sls, saltenv);
    const errors: string[] = [];
    const { data: state, tell } = await this.#read(asked, file, errors);
    const include = isDict(state) && dictHas(state, 'include') ? dictGet(state, 'include') : undefined;
    const own = isDict(state) && Array.isArray(include) ? without(state, 'include') : state;
    this.#rendered.set(sls, own);
    // The file itself is reported when it is merged: after its includes, unless these take precedence.
    const joins = isDict(own) && Array.isArray(include) && depth < deepestInclude;
    if (!joins || this.#compilation.opts['pillar_includes_override_sls'] === true) tell();
    if (isNothing(own) && include === undefined) return { data: own, errors };
    if (!isDict(own)) {
      errors.push(`SLS '${sls}' does not render to a dictionary`);
      return { data: own, errors };
    }
    if (include === undefined) return { data: own, errors };
    if (!Array.isArray(include)) {
      errors.push(`Include Declaration in SLS '${sls}' is not formed as a list`);
      return { data: own, errors };
    }
    if (depth >= deepestInclude) {
      errors.push(`SLS '${sls}' is included by too many others`);
      return { data: own, errors };
    }
    const data = await this.#withIncludes(asked, file, own, include, errors, depth);
    if (this.#compilation.opts['pillar_includes_override_sls'] !== true) tell();
    return { data, errors };
  }

  #missing(sls: string, saltenv: string): Outcome {
    const { roots, host } = this.#compilation;
    if (this.#ignored.get(saltenv)?.has(sls)) {
      host.log.debug(`Skipping ignored and missing SLS '${sls}' in environment '${saltenv}'`);
      return { data: null, errors: [] };
    }
    if ((roots.folders(saltenv) ?? []).length === 0) {
      host.log.debug(`Specified SLS '${sls}' in environment '${saltenv}' was not found.`);
      return { data: null, errors: [] };
    }
    const text = `Specified SLS '${sls}' in environment '${saltenv}' is not available on the salt master`;
    host.log.error(text);
    this.#rendered.set(sls, null);
    return { data: null, errors: [text] };
  }

  /** The file's own data; null when it cannot be rendered. */
  async #read(asked: Asked, file: StateFile, errors: string[]): Promise<{ data: Value; tell: () => void }> {
    const { host, opts, errors: log, watch } = this.#compilation;
    const { sls, saltenv, defaults } = asked;
    const context = defaults === undefined || defaults instanceof Map ? undefined : defaults;
    let yaml: string | undefined;
    const step = (renderer: string, input: Value): void => {
      yaml = renderer === 'yaml' ? asText(input) : undefined;
    };
    try {
      const request = { saltenv, sls, ...(context ? { context } : {}) };
      const data = await renderFile(host, file.path, request, watch ? step : undefined);
      const { under, includedBy } = asked;
      const extra = { ...(under ? { under } : {}), ...(includedBy ? { includedBy } : {}), ...(yaml ? { yaml } : {}) };
      return { data, tell: () => watch?.({ name: sls, saltenv, path: file.path, data, ...extra }) };
    } catch (error) {
      const text = `Rendering SLS '${sls}' failed, render error:\n${messageOf(error)}`;
      const safe = opts['pillar_safe_render_error'] !== false;
      const shown = log.mask(safe ? `Rendering SLS '${sls}' failed. Please see master log for details.` : text);
      log.logOnly(`Rendering SLS '${sls}' failed, render error`, error);
      errors.push(shown);
      return { data: null, tell: () => undefined };
    }
  }

  async #withIncludes(
    asked: Asked,
    file: StateFile,
    own: Dict,
    include: readonly Value[],
    errors: string[],
    depth: number,
  ): Promise<Dict> {
    const { merge, opts } = this.#compilation;
    const parts: Value[] = [];
    // As in Salt: `defaults` of one include stay for those after it, and so do the errors of the last one rendered.
    let { defaults } = asked;
    let last: readonly string[] = [];
    for (const item of include) {
      const wanted = readInclude(item);
      if (!wanted) {
        errors.push(`Include Declaration in SLS '${asked.sls}' has an item that is no SLS name`);
        continue;
      }
      if (wanted.isMap) defaults = wanted.defaults;
      for (const name of await this.#includedNames(wanted.sls, asked, file, errors)) {
        let data: Value = null;
        if (this.#rendered.has(name)) data = this.#rendered.get(name) ?? null;
        else {
          const under = [...(asked.under ?? []), ...(wanted.key ? wanted.key.split(':') : [])];
          const next: Asked = {
            sls: name,
            saltenv: asked.saltenv,
            defaults,
            includedBy: asked.sls,
            ...(under.length > 0 ? { under } : {}),
          };
          const outcome = await this.render(next, depth + 1);
          data = outcome.data;
          last = outcome.errors;
        }
        if (!isNothing(data) && isDict(data)) parts.push(wanted.key ? nested(wanted.key, data) : data);
        errors.push(...last);
      }
    }
    const ordered = opts['pillar_includes_override_sls'] === true ? [own, ...parts] : [...parts, own];
    return ordered.slice(1).reduce<Dict>((joined, part) => merge(joined, part), ordered[0] as Dict);
  }

  /** The names of an include; Salt also searches a relative one from the root. */
  async #includedNames(name: string, asked: Asked, file: StateFile, errors: string[]): Promise<string[]> {
    const { roots } = this.#compilation;
    const fromRoot = await roots.matching(name.replace(/^\.+/, '').replaceAll('/', '.'), asked.saltenv);
    if (fromRoot === undefined) {
      errors.push(noEnvironment(asked.saltenv));
      return [name];
    }
    let full = name;
    if (name.startsWith('.')) {
      const parts = asked.sls.split('.');
      if (!file.source.endsWith('/init.sls')) parts.pop();
      full = [...parts, name.slice(1)].join('.');
    }
    const found = [...fromRoot, ...((await roots.matching(full, asked.saltenv)) ?? [])];
    return found.length > 0 ? found : [full];
  }
}

interface Include {
  readonly sls: string;
  readonly isMap: boolean;
  readonly defaults: Dict | undefined;
  readonly key: string | undefined;
}

/** `- name`, or `- name: {defaults: …, key: …}`. */
function readInclude(item: Value): Include | undefined {
  if (typeof item === 'string') return { sls: item, isMap: false, defaults: undefined, key: undefined };
  if (!isDict(item)) return undefined;
  const [first] = dictEntries(item);
  if (!first || typeof first[0] !== 'string' || !isDict(first[1])) return undefined;
  const defaults = dictGet(first[1], 'defaults');
  const key = dictGet(first[1], 'key');
  return {
    sls: first[0],
    isMap: true,
    defaults: asDict(defaults),
    key: asText(key) || undefined,
  };
}

function nested(key: string, data: Dict): Dict {
  return key.split(':').reduceRight<Dict>((inner, part) => dictOf([[part, inner]]), data);
}

function isNothing(value: Value): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (isDict(value)) return value instanceof Map ? value.size === 0 : Object.keys(value).length === 0;
  return !value;
}

const noEnvironment = (saltenv: string): string => `No matching pillar environment for environment '${saltenv}' found`;
