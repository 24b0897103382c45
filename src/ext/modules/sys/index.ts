// Execution module `sys`: lists functions, their parameters and documentation.
import {
  defineModule,
  type FunctionInfo,
  fn,
  type ModuleContext,
  type ModuleFunction,
  newDict,
  type PlainDict,
  p,
  pyStr,
  type Value,
} from 'halite/sdk';
import { matchesGlob } from 'halite/sdk/text';

type Kind = 'modules' | 'states' | 'runners' | 'returners' | 'renderers';

/** Removes the markup from documentation, as Salt's `sys.doc` does. */
function stripMarkup(doc: string): string {
  return doc
    .replace(/ *\.\. code-block:: \S+\n{1,2}/g, '')
    .replaceAll('.. note::', 'Note:')
    .replaceAll('.. warning::', 'Warning:')
    .replaceAll('.. versionadded::', 'New in version')
    .replaceAll('.. versionchanged::', 'Changed in version');
}

const patterns = (args: readonly Value[]): string[] => args.map((arg) => pyStr(arg));

/** The functions a pattern names: a glob, a function, or a module. */
async function functionsFor(kind: Kind, pattern: string, ctx: ModuleContext): Promise<string[]> {
  // One function by its full name needs only its own file.
  if (!pattern.includes('*') && pattern.includes('.') && (await ctx.registry.functionInfo(kind, pattern)))
    return [pattern];
  const names = await ctx.registry.functionNames(kind);
  if (pattern.includes('*')) return names.filter((name) => matchesGlob(name, pattern));
  const start = pattern === '' || pattern.endsWith('.') ? pattern : `${pattern}.`;
  return names.filter((name) => name === pattern || name.startsWith(start));
}

async function docs(kind: Kind, args: readonly Value[], ctx: ModuleContext): Promise<PlainDict> {
  const wanted = args.length === 0 ? [''] : patterns(args);
  const found = newDict();
  for (const pattern of wanted) {
    for (const name of await functionsFor(kind, pattern, ctx)) {
      const state = name.split('.', 1)[0] as string;
      if (kind === 'states' && !(state in found)) {
        const doc = await ctx.registry.moduleDoc(kind, state);
        if (doc !== undefined) found[state] = stripMarkup(doc);
      }
      const info = await ctx.registry.functionInfo(kind, name);
      // As in Salt: nothing written is None.
      found[name] = info?.doc ? stripMarkup(info.doc) : null;
    }
  }
  return found;
}

async function moduleDocs(kind: Kind, args: readonly Value[], ctx: ModuleContext): Promise<PlainDict> {
  const found = newDict();
  for (const name of await ctx.registry.moduleNames(kind)) {
    if (args.length > 0 && !patterns(args).some((pattern) => matchesGlob(name, pattern))) continue;
    found[name] = stripMarkup((await ctx.registry.moduleDoc(kind, name)) ?? '');
  }
  return found;
}

async function listFunctions(kind: Kind, args: readonly Value[], ctx: ModuleContext): Promise<string[]> {
  const names = await ctx.registry.functionNames(kind);
  if (args.length === 0) return [...names].sort();
  const fits = (name: string, pattern: string): boolean =>
    pattern.includes('*') || pattern.includes('.') ? matchesGlob(name, pattern) : name.startsWith(`${pattern}.`);
  return names.filter((name) => patterns(args).some((pattern) => fits(name, pattern))).sort();
}

async function listModules(kind: Kind, args: readonly Value[], ctx: ModuleContext): Promise<string[]> {
  const names = await ctx.registry.moduleNames(kind);
  if (args.length === 0) return [...names].sort();
  const globs = patterns(args);
  // Salt matches globs against function names, so `s*` and `*.ping` both mean modules.
  const byFunction = globs.some((glob) => glob.includes('*') && glob.includes('.'))
    ? await ctx.registry.functionNames(kind)
    : [];
  const fits = (name: string): boolean =>
    globs.some((glob) =>
      glob.includes('*')
        ? matchesGlob(`${name}.`, glob) ||
          byFunction.some((full) => full.startsWith(`${name}.`) && matchesGlob(full, glob))
        : name === glob,
    );
  return names.filter(fits).sort();
}

function signature(info: FunctionInfo): PlainDict {
  const args: string[] = [];
  const defaults: Value[] = [];
  let rest = false;
  let kwargs = false;
  for (const [name, param] of Object.entries(info.params)) {
    if (param.kind === 'rest') rest = true;
    else if (param.kind === 'kwargs') kwargs = true;
    else if (!rest) {
      args.push(name);
      if (!param.required) defaults.push(param.default);
    }
  }
  return newDict([
    ['args', args.length > 0 ? args : null],
    ['defaults', defaults.length > 0 ? defaults : null],
    ['varargs', rest || null],
    ['kwargs', kwargs || null],
  ]);
}

async function argspecs(kind: Kind, module: string, ctx: ModuleContext): Promise<PlainDict> {
  const names =
    module.includes('*') || module.includes('.')
      ? await functionsFor(kind, module, ctx)
      : (await ctx.registry.functionNames(kind)).filter((name) => name.startsWith(`${module}.`));
  const found = newDict();
  for (const name of names) {
    const info = await ctx.registry.functionInfo(kind, name);
    if (info) found[name] = signature(info);
  }
  return found;
}

const typeNames = ['boolean', 'integer', 'number', 'string'] as const;

/** A JSON schema of a state function's parameters; each accepts any simple type. */
function schemaOf(name: string, info: FunctionInfo): PlainDict {
  const properties = newDict();
  const required: string[] = [];
  for (const [key, param] of Object.entries(info.params)) {
    if (param.kind === 'rest' || param.kind === 'kwargs') continue;
    if (param.required) required.push(key);
    const choices = typeNames.map((type) => {
      const choice = newDict([
        ['type', type],
        ['title', key],
        ['description', key],
      ]);
      if (!param.required) choice['default'] = param.default;
      return choice;
    });
    properties[key] = newDict([['oneOf', choices]]);
  }
  const schema = newDict([
    ['$schema', 'http://json-schema.org/draft-04/schema#'],
    ['title', name],
    ['description', name],
    ['type', 'object'],
    ['properties', properties],
    ['x-ordering', Object.keys(properties)],
    ['additionalProperties', false],
  ]);
  if (required.length > 0) schema['required'] = required;
  return schema;
}

const anyNames = { args: p.rest({ doc: 'modules, functions or globs; all when none is given' }) };

const docOf = (what: string, kind: Kind, example: string): ModuleFunction =>
  fn({
    doc: `Documentation of ${what}.`,
    examples: [`salt '*' sys.${example}`, `salt '*' sys.${example} 'c*'`],
    params: anyNames,
    run: ({ args }, ctx) => docs(kind, args, ctx),
  });
const functionsOf = (what: string, kind: Kind, example: string): ModuleFunction =>
  fn({
    doc: `Names of ${what}, sorted.`,
    examples: [`salt '*' sys.${example}`, `salt '*' sys.${example} 'c*'`],
    params: { ...anyNames, kwargs: p.kwargs() },
    run: ({ args }, ctx) => listFunctions(kind, args, ctx),
  });
const modulesOf = (what: string, kind: Kind, example: string): ModuleFunction =>
  fn({
    doc: `Names of ${what}, sorted.`,
    examples: [`salt '*' sys.${example}`, `salt '*' sys.${example} 's*'`],
    params: anyNames,
    run: ({ args }, ctx) => listModules(kind, args, ctx),
  });
const argspecOf = (what: string, kind: Kind, example: string): ModuleFunction =>
  fn({
    doc: `Arguments and defaults of ${what}.`,
    examples: [`salt '*' sys.${example}`],
    params: { module: p.string({ default: '', doc: 'a module, a function or a glob' }) },
    run: ({ module }, ctx) => argspecs(kind, module, ctx),
  });

export default defineModule({
  name: 'sys',
  doc: 'Lists functions of this minion, their parameters and documentation.',
  reads: [
    'doc',
    'state_doc',
    'runner_doc',
    'returner_doc',
    'renderer_doc',
    'list_functions',
    'list_state_functions',
    'list_runner_functions',
    'list_returner_functions',
    'list_modules',
    'list_state_modules',
    'list_runners',
    'list_returners',
    'list_renderers',
    'argspec',
    'state_argspec',
    'runner_argspec',
    'returner_argspec',
    'state_schema',
  ],
  functions: {
    doc: docOf('execution functions', 'modules', 'doc'),
    state_doc: docOf('state functions', 'states', 'state_doc'),
    runner_doc: docOf('runner functions', 'runners', 'runner_doc'),
    returner_doc: docOf('returners', 'returners', 'returner_doc'),
    renderer_doc: fn({
      doc: 'Documentation of renderers.',
      examples: ["salt '*' sys.renderer_doc", "salt '*' sys.renderer_doc jinja"],
      params: anyNames,
      run: ({ args }, ctx) => moduleDocs('renderers', args, ctx),
    }),
    list_functions: functionsOf('execution functions', 'modules', 'list_functions'),
    list_state_functions: functionsOf('state functions', 'states', 'list_state_functions'),
    list_runner_functions: functionsOf('runner functions', 'runners', 'list_runner_functions'),
    list_returner_functions: functionsOf('returner functions', 'returners', 'list_returner_functions'),
    list_modules: modulesOf('execution modules', 'modules', 'list_modules'),
    list_state_modules: modulesOf('state modules', 'states', 'list_state_modules'),
    list_runners: modulesOf('runners', 'runners', 'list_runners'),
    list_returners: modulesOf('returners', 'returners', 'list_returners'),
    list_renderers: modulesOf('renderers', 'renderers', 'list_renderers'),
    argspec: argspecOf('execution functions', 'modules', 'argspec pkg.install'),
    state_argspec: argspecOf('state functions', 'states', 'state_argspec pkg.installed'),
    runner_argspec: argspecOf('runner functions', 'runners', 'runner_argspec state'),
    returner_argspec: argspecOf('returner functions', 'returners', 'returner_argspec mysql'),
    state_schema: fn({
      doc: 'A JSON schema per state function, for forms and editors.',
      examples: ["salt '*' sys.state_schema", "salt '*' sys.state_schema pkg.installed"],
      params: { module: p.string({ default: '' }) },
      async run({ module }, ctx) {
        const schemas: PlainDict[] = [];
        for (const name of await functionsFor('states', module, ctx)) {
          const info = await ctx.registry.functionInfo('states', name);
          if (info) schemas.push(schemaOf(name, info));
        }
        return schemas;
      },
    }),
    reload_modules: fn({
      doc: 'Makes new jobs load the extensions again.',
      examples: ["salt '*' sys.reload_modules"],
      params: {
        initial_load: p.bool({ default: false, doc: 'accepted' }),
        context: p.ignored({ default: null, doc: 'accepted' }),
      },
      async run(_, ctx) {
        await ctx.minion.reloadExtensions();
        return null;
      },
    }),
  },
});
