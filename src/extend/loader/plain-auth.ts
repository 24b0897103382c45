// Users' authentication modules written as plain exported functions with Salt's names, converted to the form of
// `defineAuth`.
import { asList, isTexts, type Value } from '../../base/codec/value.ts';
import type { Auth, AuthContext, AuthSession } from '../sdk/index.ts';
import { readFileComment } from './comments.ts';
import { askVirtual } from './plain-returner.ts';

type Exports = Readonly<Record<string, unknown>>;
type PlainFunction = (this: unknown, ...args: unknown[]) => unknown;

/** A file that exports `auth(username, password)`, and optionally `groups(username)` and `acl(username)`. */
export function plainAuth(name: string, exports: Exports, source: string): Auth | undefined {
  const { auth, groups, acl, __virtualname__: virtual } = exports;
  if (typeof auth !== 'function') return undefined;
  return {
    kind: 'auth',
    name,
    ...(typeof virtual === 'string' ? { virtualName: virtual } : {}),
    doc: readFileComment(source),
    settings: {},
    available: (system) => askVirtual(exports['__virtual__'], system),
    open: (_settings: never, ctx: AuthContext): AuthSession => ({
      // Only true accepts: a text or an object that a broken function returns does not.
      check: async ({ username, password }) =>
        (await (auth as PlainFunction).call(ctx, username, password)) === true ? {} : undefined,
      ...(typeof groups === 'function'
        ? { groups: async (username: string) => textsOf(await (groups as PlainFunction).call(ctx, username)) }
        : {}),
      ...(typeof acl === 'function'
        ? { rules: async (username: string) => asList((await (acl as PlainFunction).call(ctx, username)) as Value) }
        : {}),
    }),
  };
}

const textsOf = (value: unknown): readonly string[] => (isTexts(value as Value) ? (value as string[]) : []);
