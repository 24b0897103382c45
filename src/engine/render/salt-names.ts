// `salt` in templates, over functions that are found and called asynchronously.
import type { SaltFunctions } from './host.ts';
import { type HostFunction, PyError, type PyValue, saltFunctions } from './jinja/index.ts';

/** Names that a template tests without calling them: those must be looked up before it runs. */
const asked =
  /(['"])([A-Za-z_]\w*\.\w+)\1\s*\]?\s+(?:(?:not\s+)?in\s+salt\b|is\s+(?:not\s+)?(?:un)?defined)|salt\.([A-Za-z_]\w*\.\w+)\s+is\s+(?:not\s+)?(?:un)?defined/g;

/** Functions that modify a dictionary for their caller, or return a part of it that callers modify later. */
const byReference = new Set([
  'config.get',
  'defaults.merge',
  'defaults.update',
  'grains.filter_by',
  'grains.get',
  'match.filter_by',
  'pillar.filter_by',
  'pillar.get',
  'slsutil.update',
]);

export interface SaltNames {
  /** The value of `salt`. */
  readonly salt: PyValue;
  /** Analyses a template before it runs. */
  prepare(source: string): Promise<void>;
}

const missing = (name: string, ofModule: boolean): string =>
  ofModule
    ? `'salt.loader.lazy.LoadedMod object' has no attribute '${name.slice(name.indexOf('.') + 1)}'`
    : `'salt.utils.templates.AliasedLoader object' has no attribute '${name}'`;

export function saltNames(functions: SaltFunctions): SaltNames {
  const known = new Map<string, boolean>();
  let modules: ReadonlySet<string> | undefined;
  const isModule = (name: string): boolean => modules === undefined || modules.has(name);

  const call = (name: string, ofModule: boolean): HostFunction => {
    const fn: HostFunction = async (args, kwargs) => {
      if (!(await functions.has(name))) {
        throw new PyError('UndefinedError', missing(name, ofModule));
      }
      return functions.call(name, args, kwargs);
    };
    if (byReference.has(name)) fn.byReference = true;
    return fn;
  };

  return {
    salt: saltFunctions({
      find(name, ofModule) {
        const dot = name.indexOf('.');
        // An existing module is assumed to have the function until it is called: checking would mean loading it.
        const seems = dot > 0 && (known.get(name) ?? isModule(name.slice(0, dot)));
        return seems ? call(name, ofModule) : undefined;
      },
      hasModule: isModule,
    }),
    async prepare(source) {
      if (!source.includes('salt')) return;
      modules ??= await functions.modules();
      for (const [, , quoted, dotted] of source.matchAll(asked)) {
        const name = quoted ?? dotted ?? '';
        if (!known.has(name)) known.set(name, await functions.has(name));
      }
    },
  };
}
