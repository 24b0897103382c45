// High data from a single template (`state.template_str`), which may not include, exclude or extend.
import { isDict, type Value } from '../../../base/codec/value.ts';
import { type Body, type High, isBody, shown, toHigh } from '../data.ts';

export interface PaddedTemplate {
  readonly high: High;
  readonly errors: string[];
}

/** Undefined for a template that renders to nothing. */
export function padTemplate(rendered: Value, template: string): PaddedTemplate | undefined {
  if (rendered === null || rendered === '' || rendered === false) return undefined;
  if (!isDict(rendered)) return { high: new Map(), errors: [`Template ${template} does not render to a dictionary`] };
  const high = toHigh(rendered);
  if (high.size === 0) return undefined;
  for (const item of ['include', 'exclude', 'extends']) {
    if (high.has(item)) {
      const error = `The '${item}' declaration found on '${template}' is invalid when rendering single templates`;
      return { high, errors: [error] };
    }
  }
  const errors: string[] = [];
  for (const [id, body] of high) padId(high, id, body, template, errors);
  return { high, errors };
}

function padId(high: High, id: Value, body: Value, template: string, errors: string[]): void {
  if (isBody(body)) {
    padBody(id, body, template, errors);
    return;
  }
  if (typeof body === 'string' && body.includes('.')) {
    const [module = '', fun = ''] = body.split('.');
    high.set(id, new Map<Value, Value>([[module, [fun]]]));
  } else errors.push(`ID ${shown(id)} in template ${template} is not a dictionary`);
}

function padBody(id: Value, body: Body, template: string, errors: string[]): void {
  const seen = new Set<Value>();
  for (const key of [...body.keys()].sort()) {
    if (typeof key !== 'string' || key.startsWith('_')) continue;
    const args = body.get(key)!;
    if (args === null) {
      errors.push(
        `ID '${shown(id)}' in template ${template} contains a short declaration (${key}) with a trailing colon. ` +
          'When not passing any arguments to a state, the colon must be omitted.',
      );
      continue;
    }
    if (!Array.isArray(args)) continue;
    const [module = '', fun] = key.split('.');
    if (fun === undefined) {
      seen.add(key);
      continue;
    }
    if (seen.has(module)) {
      errors.push(`ID '${shown(id)}' in template '${template}' contains multiple state declarations of the same type`);
      continue;
    }
    body.delete(key);
    body.set(module, args);
    args.push(fun);
    seen.add(module);
  }
}
