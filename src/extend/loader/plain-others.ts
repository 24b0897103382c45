// Users' grains, outputters and engines written as plain exported functions, converted to the form of the define… helpers.
import { type Dict, dictEntries, isDict, newDict, type Value } from '../../base/codec/value.ts';
import type { Engine, EngineContext, Grain, Outputter } from '../sdk/index.ts';
import { plainModule } from './plain-module.ts';

type Exports = Readonly<Record<string, unknown>>;
type PlainFunction = (this: unknown, ...args: unknown[]) => unknown;

const textsOf = (value: unknown): string[] =>
  (Array.isArray(value) ? value : [value]).filter((item) => typeof item === 'string');

function functionsOf(exports: Exports): PlainFunction[] {
  return Object.entries(exports)
    .filter(([name, value]) => typeof value === 'function' && !name.startsWith('_'))
    .map(([, value]) => value as PlainFunction);
}

/** Every exported function returns some grains; it gets the context as `this` and the grains so far. */
export function plainGrain(name: string, exports: Exports): Grain | undefined {
  const functions = functionsOf(exports);
  if (functions.length === 0) return undefined;
  return {
    kind: 'grains',
    name,
    doc: '',
    // After the built-in ones, whose grains they may read or replace.
    priority: 1000,
    proxies: textsOf(exports['__proxyenabled__']),
    async collect(ctx, soFar) {
      const found = newDict();
      for (const collect of functions) {
        const part = await collect.call(ctx, soFar);
        if (!isDict(part)) continue;
        for (const [key, value] of dictEntries(part as Dict)) if (typeof key === 'string') found[key] = value;
      }
      return found;
    },
  };
}

/** Salt's outputters export one function, `output(data)`. */
export function plainOutputter(name: string, exports: Exports): Outputter | undefined {
  const { output } = exports;
  if (typeof output !== 'function') return undefined;
  return {
    kind: 'outputters',
    name,
    doc: '',
    render: (data: Value, options) => String((output as PlainFunction).call(options, data)),
  };
}

/** A file that exports `start(…)`, whose parameters are its configuration; the context is `this`. */
export function plainEngine(name: string, exports: Exports, source: string): Engine | undefined {
  const { functions, virtualName, doc, available } = plainModule('modules', name, exports, source);
  const start = functions['start'];
  if (!start) return undefined;
  return {
    kind: 'engines',
    name,
    doc,
    params: start.params,
    ...(virtualName === undefined ? {} : { virtualName }),
    ...(available ? { available } : {}),
    async start(config: never, ctx: EngineContext) {
      await start.run(config as never, ctx as never);
    },
  };
}
