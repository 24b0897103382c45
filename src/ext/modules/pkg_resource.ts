// Execution module `pkg_resource`: versions of packages compared.
import { defineModule, fn, p, type Value } from 'halite/sdk';
import { pyStr } from '../../base/codec/python/index.ts';

/** Numbers and words of a version; dots only separate. */
const parts = (version: string): (number | string)[] =>
  (version.match(/\d+|[a-z]+|[^\da-z.]+/g) ?? []).map((part) => (/^\d+$/.test(part) ? Number(part) : part));

/** As Python's LooseVersion does in Salt: with a word on either side numbers are compared as text, filled up with zeros. */
export function compareLoose(one: string, other: string): number {
  const [a, b] = [parts(one), parts(other)];
  const worded = [...a, ...b].some((part) => typeof part === 'string');
  const key = (part: number | string): number | string =>
    worded && typeof part === 'number' ? String(part).padStart(8, '0') : part;
  for (let at = 0; at < Math.min(a.length, b.length); at++) {
    const [left, right] = [key(a[at] ?? 0), key(b[at] ?? 0)];
    if (left !== right) return left < right ? -1 : 1;
  }
  return Math.sign(a.length - b.length);
}

const tests: Readonly<Record<string, (order: number) => boolean>> = {
  '<': (order) => order < 0,
  '<=': (order) => order <= 0,
  '==': (order) => order === 0,
  '!=': (order) => order !== 0,
  '>=': (order) => order >= 0,
  '>': (order) => order > 0,
};

const version = (doc: string) => p.any({ doc });
const withoutEpoch = (text: Value, ignore: boolean): string =>
  ignore ? pyStr(text).replace(/^[^:]*:/, '') : pyStr(text);

export default defineModule({
  name: 'pkg_resource',
  doc: 'Versions of packages compared.',
  functions: {
    version_compare: fn({
      doc: 'Whether a comparison of two versions holds.',
      examples: ["salt '*' pkg_resource.version_compare 2.1.0 '<=' 2.2.0"],
      params: {
        ver1: version('one'),
        oper: p.string({ doc: '<, <=, ==, !=, >= or >' }),
        ver2: version('the other'),
        ignore_epoch: p.bool({ default: false, doc: 'leave out what is before a colon' }),
      },
      run(args, ctx) {
        const test = tests[args.oper];
        if (!test) {
          ctx.log.error(`Invalid operator '${args.oper}' for version comparison`);
          return false;
        }
        const [one, other] = [args.ver1, args.ver2].map((text) => withoutEpoch(text, args.ignore_epoch));
        return test(compareLoose(one ?? '', other ?? ''));
      },
    }),
    version_clean: fn({
      doc: 'A version as the package system writes it.',
      examples: ["salt '*' pkg_resource.version_clean 1.2.3"],
      params: { verstr: p.any({ doc: 'the version' }) },
      run: (args) => args.verstr,
    }),
  },
});
