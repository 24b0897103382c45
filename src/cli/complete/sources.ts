// Where names come from: keys on disk, the configuration, the extensions. No daemon is asked, so that an answer takes a
// moment only.
import { asText, dictEntries, isDict, newDict, type Value } from '../../base/codec/value.ts';
import { loadClientConfig } from '../../base/config/client.ts';
import { loadMinionConfig } from '../../base/config/index.ts';
import { nullLogger } from '../../base/log/null-logger.ts';
import type { FunctionKind } from '../../extend/loader/index.ts';
import type { KeyState } from '../../extend/sdk/index.ts';

export interface Candidate {
  readonly value: string;
  /** One line about it. */
  readonly about?: string;
  /** More follows without a space: `test.`, `name=`. */
  readonly open?: boolean;
}

type Opts = Readonly<Record<string, Value>>;
const firstLine = (text: string): string => (text.split('\n', 1)[0] ?? '').slice(0, 100);

export function optsOf(command: string, configDir: string): Opts {
  const request = { configDir };
  return command === 'salt-call' ? loadMinionConfig(request).opts.raw : loadClientConfig(request).opts.raw;
}

export async function minionIds(opts: Opts, states: readonly KeyState[]): Promise<Candidate[]> {
  const { KeyStore } = await import('../../store/keys.ts');
  const keys = new KeyStore(asText(opts['pki_dir']) ?? '');
  return states.flatMap((state) => keys.ids(state)).map((value) => ({ value }));
}

export function nodeGroups(opts: Opts): Candidate[] {
  const groups = opts['nodegroups'];
  return isDict(groups) ? dictEntries(groups).map(([name]) => ({ value: String(name) })) : [];
}

/** Modules with a dot, or the functions of the module that was typed. */
export async function functions(kind: FunctionKind, typed: string, opts: Opts): Promise<Candidate[]> {
  const { callableNames, Loader } = await import('../../extend/loader/index.ts');
  const dot = typed.indexOf('.');
  const options = { opts: () => opts, grains: () => newDict(), log: nullLogger() };
  if (dot < 0) {
    // A user's files are only named here, not run.
    const names = await new Loader({ ...options, userCode: 'names' }).names(kind);
    return names.map((name) => ({ value: `${name}.`, open: true }));
  }
  const name = typed.slice(0, dot);
  const module = await new Loader({ ...options, userCode: 'import' }).get(kind, name);
  const names = module ? callableNames(module) : await anySystem(kind, name);
  const known = module?.extension.functions as Readonly<Record<string, { readonly doc?: string }>> | undefined;
  return names.map((value) => {
    const doc = known?.[value.slice(dot + 1)]?.doc;
    return { value, ...(doc ? { about: firstLine(doc) } : {}) };
  });
}

/** `pkg` is another module on each system: the functions of all of them, because the minions' systems are not known here. */
async function anySystem(kind: FunctionKind, name: string): Promise<string[]> {
  const { builtin } = await import('../../extend/loader/builtin.gen.ts');
  const entries = Object.values(builtin[kind] ?? {}).filter((entry) => entry.virtualName === name);
  const modules = await Promise.all(entries.map((entry) => entry.load()));
  const names = modules.flatMap((each) => Object.keys((each.default as { functions?: object }).functions ?? {}));
  return [...new Set(names)].sort().map((fun) => `${name}.${fun}`);
}

/** The parameters of a function that were not typed yet, as `name=`. */
export async function parameters(
  kind: FunctionKind,
  name: string,
  given: readonly string[],
  opts: Opts,
): Promise<Candidate[]> {
  const { Loader } = await import('../../extend/loader/index.ts');
  const loader = new Loader({ opts: () => opts, grains: () => newDict(), log: nullLogger(), userCode: 'import' });
  const found = await loader.find(kind, name);
  if (!found) return [];
  const positional = given.filter((word) => !/^\w+=/.test(word)).length;
  const named = new Set(given.flatMap((word) => /^(\w+)=/.exec(word)?.[1] ?? []));
  return Object.entries(found.fn.params)
    .slice(positional)
    .filter(([param]) => !named.has(param))
    .map(([param, { doc }]) => ({ value: `${param}=`, open: true, about: firstLine(doc) }));
}
