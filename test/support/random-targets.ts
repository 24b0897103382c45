// Random fleets and random target expressions, each expression with a plain evaluator that shares no code with ours.
import fc from 'fast-check';

export type Data = null | boolean | number | string | Data[] | { [key: string]: Data };
export interface RandomMinion {
  readonly id: string;
  /** Absent: not known to the master. */
  readonly grains?: { [key: string]: Data };
  readonly pillar?: { [key: string]: Data };
}
type Known = boolean | 'unknown';

/** One term: its text, and whether it covers a minion, found out the slow way. */
interface Term {
  readonly text: string;
  covers(minion: RandomMinion): Known;
}
export type Tree =
  | { readonly op: 'term'; readonly term: Term }
  | { readonly op: 'and' | 'or'; readonly left: Tree; readonly right: Tree }
  | { readonly op: 'not'; readonly inner: Tree };

const ids = ['web1', 'web2', 'web10', 'db1', 'db-2', 'mail.example.com', 'a', 'WEB1'] as const;
const systems = ['Debian', 'Ubuntu', 'Red Hat', 'debian'] as const;
const roles = ['web', 'db', 'mail', 'cache'] as const;

const grains = fc.record({
  os: fc.constantFrom(...systems),
  cores: fc.constantFrom(1, 2, 16),
  virtual: fc.boolean(),
  roles: fc.subarray([...roles]),
  disk: fc.record({ type: fc.constantFrom('ssd', 'hdd'), size: fc.constantFrom(10, 20) }),
  ipv4: fc.subarray(['127.0.0.1', '10.0.0.5', '10.1.2.3', '192.168.7.7'], { minLength: 1 }),
  ipv6: fc.subarray(['::1', 'fe80::5', '2001:db8::7']),
});
const pillar = fc.record({
  role: fc.constantFrom(...roles),
  env: fc.constantFrom('prod', 'dev'),
  app: fc.record({ name: fc.constantFrom('shop', 'wiki'), port: fc.constantFrom(80, 443) }),
});

/** Every id at most once, some with data that is not known. */
export function fleets(known = false): fc.Arbitrary<RandomMinion[]> {
  const minion = (id: string): fc.Arbitrary<RandomMinion> =>
    fc
      .record({ grains, pillar, blind: known ? fc.constant(0) : fc.constantFrom(0, 0, 0, 1, 2) })
      .map(({ blind, ...data }) => {
        if (blind === 0) return { id, grains: data.grains, pillar: data.pillar };
        return blind === 1 ? { id, grains: data.grains } : { id };
      });
  return fc
    .subarray([...ids], { minLength: 1 })
    .chain((chosen) => fc.tuple(...chosen.map(minion)).map((minions) => [...minions]));
}

/** fnmatch by trying every way, no expressions involved. */
function globMatches(pattern: string, text: string): boolean {
  if (pattern === '') return text === '';
  const rest = pattern.slice(1);
  if (pattern[0] === '*') return globMatches(rest, text) || (text !== '' && globMatches(pattern, text.slice(1)));
  if (text === '') return false;
  if (pattern[0] === '?') return globMatches(rest, text.slice(1));
  const close = pattern.indexOf(']', 2);
  if (pattern[0] !== '[' || close < 0) return pattern[0] === text[0] && globMatches(rest, text.slice(1));
  const negated = pattern[1] === '!';
  const inside = inClass(pattern.slice(negated ? 2 : 1, close), text[0] as string);
  return inside !== negated && globMatches(pattern.slice(close + 1), text.slice(1));
}

function inClass(members: string, letter: string): boolean {
  for (let at = 0; at < members.length; at++) {
    const [from, dash, to] = [members[at] as string, members[at + 1], members[at + 2]];
    if (dash === '-' && to !== undefined) {
      if (letter >= from && letter <= to) return true;
      at += 2;
    } else if (letter === from) return true;
  }
  return false;
}

const python = (value: Data): string => (value === true ? 'True' : value === false ? 'False' : String(value));

/** Walks `a:b` down to the values there, then compares each. */
function valueAt(data: { [key: string]: Data }, path: readonly string[]): Data[] {
  let found: Data = data;
  for (const key of path) {
    if (found === null || typeof found !== 'object' || Array.isArray(found) || !(key in found)) return [];
    found = found[key] as Data;
  }
  return Array.isArray(found) ? found : [found];
}

interface DataTerm {
  readonly part: 'grains' | 'pillar';
  readonly path: readonly string[];
  readonly value: string;
  readonly regex: boolean;
}

const dataTerms: fc.Arbitrary<DataTerm> = fc.oneof(
  fc.record({
    part: fc.constant('grains' as const),
    path: fc.constant(['os']),
    value: fc.constantFrom('Debian', 'deb*', '*n', '[DU]*', 'UBUNTU', 'none'),
    regex: fc.constant(false),
  }),
  fc.record({
    part: fc.constant('grains' as const),
    path: fc.constantFrom(['roles'], ['cores'], ['virtual']),
    value: fc.constantFrom('web', 'd?', '1', '16', 'true', 'True', '1*'),
    regex: fc.constant(false),
  }),
  fc.record({
    part: fc.constant('grains' as const),
    path: fc.constantFrom(['disk', 'type'], ['disk', 'size']),
    value: fc.constantFrom('ssd', 'h*', '10', '2?'),
    regex: fc.constant(false),
  }),
  fc.record({
    part: fc.constant('grains' as const),
    path: fc.constantFrom(['os'], ['roles'], ['disk', 'type']),
    value: fc.constantFrom('deb.*', '(web|db)$', 's+d', '.*n$', 'none'),
    regex: fc.constant(true),
  }),
  fc.record({
    part: fc.constant('pillar' as const),
    path: fc.constantFrom(['role'], ['env'], ['app', 'name'], ['app', 'port']),
    value: fc.constantFrom('web', 'pr*', 'shop', '80', '4?3'),
    regex: fc.constant(false),
  }),
  fc.record({
    part: fc.constant('pillar' as const),
    path: fc.constantFrom(['role'], ['env'], ['app', 'name']),
    value: fc.constantFrom('w.b', '(prod|dev)$', '^s'),
    regex: fc.constant(true),
  }),
);

function dataCovers({ part, path, value, regex }: DataTerm, minion: RandomMinion): Known {
  const data = minion[part];
  if (data === undefined) return 'unknown';
  const same = regex
    ? (text: string) => new RegExp(`^(?:${value})`, 'i').test(text)
    : (text: string) => globMatches(value.toLowerCase(), text.toLowerCase());
  return valueAt(data, path).some((item) => same(python(item)));
}

const letters = { grains: ['G', 'P'], pillar: ['I', 'J'] } as const;

function bits(address: string): string {
  const pieces = address.split('.').map((piece) => Number(piece).toString(2).padStart(8, '0'));
  return pieces.join('');
}

function addressCovers(network: string, minion: RandomMinion): Known {
  if (!minion.grains) return 'unknown';
  const [base = '', length] = network.split('/');
  if (base.includes(':')) return (minion.grains['ipv6'] as string[]).includes(base);
  const prefix = bits(base).slice(0, Number(length ?? 32));
  return (minion.grains['ipv4'] as string[]).some((address) => bits(address).startsWith(prefix));
}

const globs = ['*', 'web*', 'web[1-2]', 'web?', '[!w]*', '*1', 'db-*', 'mail.*', 'WEB1', 'none*', '[a-d]*'] as const;
const expressions = ['web\\d', 'web.*', '(web|db)', '.*1$', 'db(?!1)', 'mail\\.', '[wd].*'] as const;
const networks = [
  '10.0.0.0/8',
  '10.1.2.3',
  '192.168.0.0/16',
  '127.0.0.0/8',
  '10.1.2.0/24',
  '::1',
  '2001:db8::7',
] as const;

const terms: fc.Arbitrary<Term> = fc.oneof(
  fc.constantFrom(...globs).map((text) => ({ text, covers: ({ id }: RandomMinion) => globMatches(text, id) })),
  fc.constantFrom(...expressions).map((text) => ({
    text: `E@${text}`,
    covers: ({ id }: RandomMinion) => new RegExp(`^(?:${text})`).test(id),
  })),
  fc.tuple(fc.subarray([...ids], { minLength: 1 }), fc.constantFrom('', ',')).map(([chosen, comma]) => ({
    text: `L@${chosen.join(',')}${comma}`,
    covers: ({ id }: RandomMinion) => (chosen as string[]).includes(id),
  })),
  fc
    .tuple(dataTerms, fc.constantFrom(':', ':', ':', '|', '%'))
    .map(([term, sign]) => ({
      text: `${letters[term.part][term.regex ? 1 : 0]}${sign === ':' ? '' : sign}@${[...term.path, term.value].join(sign)}`,
      covers: (minion: RandomMinion) => dataCovers(term, minion),
    }))
    .filter(({ text }) => !/[|%]@.*\|.*\)|^[PJ][|%]/.test(text)),
  fc.constantFrom(...networks).map((network) => ({
    text: `S@${network}`,
    covers: (minion: RandomMinion) => addressCovers(network, minion),
  })),
);

/** Expressions with all operators. */
export const trees: fc.Arbitrary<Tree> = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    terms.map((term): Tree => ({ op: 'term', term })),
    fc.tuple(tie('tree'), tie('tree')).map(([left, right]): Tree => ({ op: 'and', left, right })),
    fc.tuple(tie('tree'), tie('tree')).map(([left, right]): Tree => ({ op: 'or', left, right })),
    tie('tree').map((inner): Tree => ({ op: 'not', inner })),
  ),
})).tree;

const strength = { or: 1, and: 2, not: 3, term: 4 } as const;

/** The expression as a person would write it: parentheses only where they are needed. */
export function written(tree: Tree): string {
  const inside = (inner: Tree, least: number): string =>
    strength[inner.op] >= least ? written(inner) : `( ${written(inner)} )`;
  switch (tree.op) {
    case 'term':
      return tree.term.text;
    case 'not':
      return `not ${inside(tree.inner, strength.term)}`;
    default:
      return `${inside(tree.left, strength[tree.op])} ${tree.op} ${inside(tree.right, strength[tree.op] + 1)}`;
  }
}

/** Every term's value tried both ways where it is not known: only what always comes out the same is known. */
export function bruteForce(tree: Tree, minion: RandomMinion): Known {
  const outcomes = possible(tree, minion);
  if (outcomes.size > 1) return 'unknown';
  return outcomes.has(true);
}

function possible(tree: Tree, minion: RandomMinion): Set<boolean> {
  switch (tree.op) {
    case 'term': {
      const known = tree.term.covers(minion);
      return new Set(known === 'unknown' ? [true, false] : [known]);
    }
    case 'not':
      return new Set([...possible(tree.inner, minion)].map((value) => !value));
    default: {
      const combined = new Set<boolean>();
      for (const left of possible(tree.left, minion))
        for (const right of possible(tree.right, minion))
          combined.add(tree.op === 'and' ? left && right : left || right);
      return combined;
    }
  }
}
