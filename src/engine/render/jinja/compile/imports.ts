// include, import, from … import, extends and blocks: everything that uses other templates.
import { isPyError, PyError, runtimeError } from '../errors.ts';
import type { Block, Expr, FromImport, Import, Include, Stmt } from '../parser/nodes.ts';
import { toArray, truth } from '../runtime/iterate.ts';
import { textOf } from '../runtime/markup.ts';
import { makeModule, TemplateModule } from '../runtime/objects.ts';
import { repr, str } from '../runtime/print.ts';
import type { Context, Frame, LoadedTemplate } from '../runtime/runtime.ts';
import { Undefined } from '../runtime/undefined.ts';
import { chain, type MaybePromise, type PyValue } from '../runtime/value.ts';
import { type Step, withValue } from './code.ts';
import { type CompileFrame, localsOf, slotOf, type Unit } from './scope.ts';

/** A template by name, as `get_template` finds it. */
function loadByName(f: Frame, name: PyValue): MaybePromise<LoadedTemplate> {
  if (name instanceof Undefined) return name.fail();
  const text = textOf(name);
  if (text === undefined) throw new PyError('TemplateNotFound', str(name));
  return f.rt.load(text, f.info);
}

async function firstFound(f: Frame, names: readonly PyValue[]): Promise<LoadedTemplate> {
  const depth = f.rt.stack.length;
  for (const name of names) {
    try {
      return await loadByName(f, name);
    } catch (error) {
      if (!isPyError(error, 'TemplateNotFound', 'TemplatesNotFound', 'UndefinedError')) throw error;
      f.rt.stack.length = depth;
    }
  }
  throw notFoundAmong(names);
}

function notFoundAmong(names: readonly PyValue[]): PyError {
  const parts = names.map((name) => (name instanceof Undefined ? name.message() : str(name)));
  return new PyError('TemplatesNotFound', `none of the templates given were found: ${parts.join(', ')}`);
}

/** A template by the first name of a list that exists. */
function select(f: Frame, value: PyValue): MaybePromise<LoadedTemplate> {
  if (value instanceof Undefined) return value.fail();
  if (!truth(value)) throw new PyError('TemplatesNotFound', 'Tried to select from an empty list of templates.');
  const names = toArray(value);
  const depth = f.rt.stack.length;
  for (let at = 0; at < names.length; at += 1) {
    try {
      const found = loadByName(f, names[at]!);
      return found instanceof Promise ? resume(f, found, names, at) : found;
    } catch (error) {
      if (!isPyError(error, 'TemplateNotFound', 'TemplatesNotFound', 'UndefinedError')) throw error;
      f.rt.stack.length = depth;
    }
  }
  throw notFoundAmong(names);
}

async function resume(
  f: Frame,
  first: Promise<LoadedTemplate>,
  names: readonly PyValue[],
  at: number,
): Promise<LoadedTemplate> {
  const depth = f.rt.stack.length;
  try {
    return await first;
  } catch (error) {
    if (!isPyError(error, 'TemplateNotFound', 'TemplatesNotFound', 'UndefinedError')) throw error;
    f.rt.stack.length = depth;
    try {
      return await firstFound(f, names.slice(at + 1));
    } catch (last) {
      if (isPyError(last, 'TemplatesNotFound')) throw notFoundAmong(names);
      throw last;
    }
  }
}

/** The module of a template rendered without context, created once per render. */
function defaultModule(f: Frame, template: LoadedTemplate): MaybePromise<TemplateModule> {
  if (template.module instanceof TemplateModule) return template.module;
  const context = template.newContext(f.rt, undefined, false);
  return chain(template.renderRoot(f.rt, context), (text) => {
    const module = makeModule(template.name, context, text);
    template.module = module;
    return module;
  });
}

type Locals = (f: Frame) => Map<string, PyValue>;

function importModule(f: Frame, template: LoadedTemplate, locals: Locals | undefined): MaybePromise<TemplateModule> {
  if (locals === undefined) return defaultModule(f, template);
  const context = template.newContext(f.rt, f.context.all(), true, locals(f));
  return chain(template.renderRoot(f.rt, context), (text) => makeModule(template.name, context, text));
}

export function compileInclude(unit: Unit, node: Include, frame: CompileFrame): Step {
  unit.line = node.line;
  const { line, ignoreMissing } = node;
  const locals = node.withContext ? localsOf(frame) : undefined;
  const name = unit.expr(node.template, frame);
  const render = (template: LoadedTemplate, f: Frame): MaybePromise<undefined> => {
    const text =
      locals === undefined
        ? chain(defaultModule(f, template), (module) => module.text)
        : template.renderRoot(f.rt, template.newContext(f.rt, f.context.all(), true, locals(f)));
    return chain(text, (later) => {
      f.out += later;
      return undefined;
    });
  };
  const missing = (error: unknown, f: Frame, depth: number): undefined => {
    if (!ignoreMissing || !isPyError(error, 'TemplateNotFound', 'TemplatesNotFound')) throw error;
    f.rt.stack.length = depth;
  };
  const step = withValue(name, (value, f) => {
    const depth = f.rt.stack.length;
    let found: MaybePromise<LoadedTemplate>;
    try {
      found = textOf(value) !== undefined || value instanceof Undefined ? loadByName(f, value) : select(f, value);
    } catch (error) {
      return missing(error, f, depth);
    }
    if (!(found instanceof Promise)) return render(found, f);
    return found.then(
      (template) => render(template, f),
      (error) => missing(error, f, depth),
    );
  });
  return (f) => {
    f.line = line;
    return step(f);
  };
}

export function compileImport(unit: Unit, node: Import, frame: CompileFrame): Step {
  unit.line = node.line;
  const { line, target } = node;
  const slot = slotOf(frame, target);
  const locals = node.withContext ? localsOf(frame) : undefined;
  const { toplevel } = frame;
  const step = withValue(unit.expr(node.template, frame), (value, f) =>
    chain(loadByName(f, value), (template) =>
      chain(importModule(f, template, locals), (module) => {
        f.slots[slot] = module;
        if (toplevel) {
          f.context.vars.set(target, module);
          if (!target.startsWith('_')) f.context.exported.delete(target);
        }
        return undefined;
      }),
    ),
  );
  return (f) => {
    f.line = line;
    return step(f);
  };
}

export function compileFromImport(unit: Unit, node: FromImport, frame: CompileFrame): Step {
  unit.line = node.line;
  const { line } = node;
  const names = node.names.map(({ name, alias }) => ({ name, alias, slot: slotOf(frame, alias) }));
  const locals = node.withContext ? localsOf(frame) : undefined;
  const { toplevel } = frame;
  const assign = (module: TemplateModule, f: Frame): undefined => {
    for (const { name, alias, slot } of names) {
      const value = module.exports.get(name) ?? notExported(f, module, name, line);
      f.slots[slot] = value;
      if (toplevel) {
        f.context.vars.set(alias, value);
        if (!alias.startsWith('_')) f.context.exported.delete(alias);
      }
    }
  };
  const step = withValue(unit.expr(node.template, frame), (value, f) =>
    chain(loadByName(f, value), (template) => chain(importModule(f, template, locals), (module) => assign(module, f))),
  );
  return (f) => {
    f.line = line;
    return step(f);
  };
}

function notExported(f: Frame, module: TemplateModule, name: string, line: number): PyValue {
  const place = f.info.name === undefined ? `line ${line}` : `line ${line} in ${repr(f.info.name)}`;
  const source = repr(module.name ?? null);
  const hint = `the template ${source} (imported on ${place}) does not export the requested name ${repr(name)}`;
  return f.rt.undefined({ hint, name });
}

export function compileBlockCall(unit: Unit, node: Block, frame: CompileFrame): Step {
  if (frame.toplevel && unit.knownExtends) return () => undefined;
  const checkParent = frame.toplevel && unit.extendsSoFar > 0;
  unit.line = node.line;
  const { line, name, required } = node;
  const locals = node.scoped ? localsOf(frame) : undefined;
  return (f) => {
    if (checkParent && f.extending !== undefined) return undefined;
    f.line = line;
    const stack = f.context.blocks.get(name)!;
    if (required && stack.length <= 1) throw runtimeError(`Required block ${repr(name)} not found`);
    const context: Context = locals === undefined ? f.context : f.context.derived(locals(f));
    return chain(context.blocks.get(name)![0]!(context, f.rt), (text) => {
      f.out += text;
      return undefined;
    });
  };
}

/** Marks the frame as a child: nothing outside blocks is printed any more. */
export function compileExtends(unit: Unit, node: Extract<Stmt, { kind: 'Extends' }>, frame: CompileFrame): Step {
  const again = unit.extendsSoFar > 0;
  const before = unit.line;
  unit.line = node.line;
  const { line } = node;
  const name = unit.expr(node.template as Expr, frame);
  if (frame.rootlevel) unit.knownExtends = true;
  unit.extendsSoFar += 1;
  const step = withValue(name, (value, f) =>
    chain(loadByName(f, value), (template) => {
      f.extending = template;
      for (const [key, code] of template.blocks) {
        const stack = f.context.blocks.get(key);
        if (stack === undefined) f.context.blocks.set(key, [code]);
        else stack.push(code);
      }
      return undefined;
    }),
  );
  return (f) => {
    if (again) {
      f.line = before;
      if (f.extending !== undefined) throw runtimeError('extended multiple times');
    }
    f.line = line;
    return step(f);
  };
}
