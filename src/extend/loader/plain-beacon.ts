// Users' beacons written as plain exported functions with Salt's names, converted to the form of `defineBeacon`.
import { isDict, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import type { Beacon, BeaconContext } from '../sdk/index.ts';
import { readFileComment } from './comments.ts';
import { askVirtual } from './plain-returner.ts';

type Exports = Readonly<Record<string, unknown>>;
type PlainFunction = (this: unknown, ...args: unknown[]) => unknown;

/**
 * A file that exports `beacon(config)` and optionally `validate(config)` and `close(config)`. The configuration
 * is the list of maps that Salt's beacons get; the context is `this`.
 */
export function plainBeacon(name: string, exports: Exports, source: string): Beacon | undefined {
  const { beacon, validate, close, __virtualname__: virtual } = exports;
  if (typeof beacon !== 'function') return undefined;
  return {
    kind: 'beacons',
    name,
    ...(typeof virtual === 'string' ? { virtualName: virtual } : {}),
    doc: readFileComment(source),
    available: (system) => askVirtual(exports['__virtual__'], system),
    validate: (settings, ctx) => askValidate(validate, settings, ctx),
    open(settings, ctx) {
      const config = listed(settings, ctx);
      return {
        async read() {
          const found: unknown = await (beacon as PlainFunction).call(ctx, config);
          if (!Array.isArray(found)) throw new Error('beacon() did not return a list');
          return found.filter((item) => isDict(item)).map((item) => newDict(Object.entries(item as PlainDict)));
        },
        async close() {
          if (typeof close === 'function') await (close as PlainFunction).call(ctx, config);
        },
      };
    },
  };
}

const listed = (settings: PlainDict, ctx: BeaconContext): Value[] =>
  [...Object.entries(settings), ['_beacon_name', ctx.name] as const].map(([key, value]) => newDict([[key, value]]));

/** Salt's result is a pair: whether it is valid, and a comment. */
async function askValidate(validate: unknown, settings: PlainDict, ctx: BeaconContext): Promise<string | undefined> {
  if (typeof validate !== 'function') return undefined;
  const answer: unknown = await (validate as PlainFunction).call(ctx, listed(settings, ctx));
  const [valid, comment] = Array.isArray(answer) ? answer : [answer, undefined];
  return valid ? undefined : String(comment ?? 'The configuration is not valid.');
}
