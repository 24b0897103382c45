// Execution module `match`: whether this minion matches a target expression.
import {
  type ArgsOf,
  defineModule,
  dictEntries,
  dictGet,
  fn,
  isDict,
  isTruthy,
  type ModuleContext,
  messageOf,
  p,
  pyStr,
  pythonError,
  type Value,
} from 'halite/sdk';
import { defaultDelimiter, mergeRecurse, subdictMatch } from 'halite/sdk/data';
import { matchesGlob, pyRegex, words } from 'halite/sdk/text';

const kinds = [
  'glob',
  'pcre',
  'list',
  'grain',
  'grain_pcre',
  'pillar',
  'pillar_pcre',
  'ipcidr',
  'data',
  'compound',
] as const;
type Kind = (typeof kinds)[number];

const inList = (id: string, tgt: Value): boolean =>
  (Array.isArray(tgt) ? tgt : pyStr(tgt).split(',')).some((name) => name === id);

function inData(data: Value, tgt: string, delimiter: string, regex: boolean): boolean {
  return tgt.includes(delimiter) && subdictMatch(data, tgt, { delimiter, regex });
}

/** Replaces the parts of a compound expression that match ids by their result for another id. */
function forOtherId(expression: string, id: string): string {
  const decided = (yes: boolean): string => (yes ? '*' : 'SALT_MATCH_NOTHING');
  return words(expression)
    .map((word) => {
      if (['and', 'or', 'not', '(', ')'].includes(word)) return word;
      if (word.startsWith('E@')) return decided(pyRegex(word.slice(2)).test(id));
      if (word.startsWith('L@')) return decided(inList(id, word.slice(2)));
      return /^[A-Z][^@]?@/.test(word) ? word : decided(matchesGlob(id, word));
    })
    .join(' ');
}

async function decide(
  kind: Kind,
  tgt: Value,
  minionId: string | null,
  delimiter: string,
  ctx: ModuleContext,
): Promise<boolean> {
  const id = minionId || ctx.id;
  const text = pyStr(tgt);
  switch (kind) {
    case 'glob':
      return typeof tgt === 'string' && matchesGlob(id, tgt);
    case 'pcre':
      return pyRegex(text).test(id);
    case 'list':
      return inList(id, tgt);
    case 'grain':
    case 'grain_pcre':
      return inData(ctx.grains, text, delimiter, kind === 'grain_pcre');
    case 'pillar':
    case 'pillar_pcre':
      return inData(ctx.pillar, text, delimiter, kind === 'pillar_pcre');
    case 'compound': {
      const expression = Array.isArray(tgt) ? tgt.map(pyStr).join(' ') : text;
      return ctx.match(id === ctx.id ? expression : forOtherId(expression, id), kind);
    }
    default:
      return ctx.match(text, kind);
  }
}

/** Salt returns False for invalid expressions and logs the reason. */
async function matches(
  kind: Kind,
  tgt: Value,
  minionId: Value,
  delimiter: string,
  ctx: ModuleContext,
): Promise<boolean> {
  try {
    return await decide(kind, tgt, minionId === null ? null : pyStr(minionId), delimiter, ctx);
  } catch (error) {
    ctx.log.error('match failed', { kind, tgt, problem: messageOf(error) });
    return false;
  }
}

function kindOf(tgtType: string): Kind {
  const kind = kinds.find((known) => known === tgtType);
  if (kind === undefined) throw pythonError('KeyError', `'${tgtType}'`);
  return kind;
}

type Choice = ArgsOf<typeof choiceParams>;

async function choose(
  entries: readonly (readonly [Value, Value])[],
  choice: Choice,
  fallback: Value,
  ctx: ModuleContext,
): Promise<Value> {
  const kind = kindOf(choice.tgt_type);
  for (const [key, value] of entries) {
    if (!(await matches(kind, key, choice.minion_id, defaultDelimiter, ctx))) continue;
    if (!isTruthy(choice.merge)) return value;
    if (!isDict(choice.merge)) throw pythonError('SaltException', 'filter_by merge argument must be a dictionary.');
    if (value === null) return choice.merge;
    return isDict(value) ? mergeRecurse(value, choice.merge, choice.merge_lists) : value;
  }
  return fallback;
}

const minionId = p.string({ default: null, doc: 'another id instead of this minion’s' });
const delimiter = p.string({ default: defaultDelimiter, doc: 'separator of the levels of a key' });

const byId = (kind: Kind, doc: string, example: string) =>
  fn({
    doc,
    examples: [example],
    params: { tgt: p.oneOf(['string', 'list']), minion_id: minionId },
    // A regular expression may take long, so it does not run in the daemon.
    inline: kind === 'glob' || kind === 'list',
    run: ({ tgt, minion_id }, ctx) => matches(kind, tgt, minion_id, defaultDelimiter, ctx),
  });
const byData = (kind: Kind, doc: string, example: string) =>
  fn({
    doc,
    examples: [example, `${example} delimiter='|'`],
    params: { tgt: p.string(), delimiter },
    inline: kind === 'grain' || kind === 'pillar',
    run: (args, ctx) => matches(kind, args.tgt, null, args.delimiter, ctx),
  });

const choiceParams = {
  tgt_type: p.string({ default: 'compound', doc: 'kind of the expressions' }),
  minion_id: minionId,
  merge: p.dict({ default: null, falsy: null, doc: 'dictionary merged over the result' }),
  merge_lists: p.bool({ default: false, doc: 'concatenate lists when merging' }),
};

export default defineModule({
  name: 'match',
  doc: 'Whether this minion matches a target expression.',
  reads: [...kinds, 'filter_by', 'search_by', 'ifelse'],
  functions: {
    compound: byId('compound', 'Whether a compound expression fits.', `salt '*' match.compound 'L@web1,web2 and *'`),
    glob: byId('glob', 'Whether a glob fits the id.', "salt '*' match.glob '*'"),
    pcre: byId('pcre', 'Whether a regular expression fits the id.', "salt '*' match.pcre '.*'"),
    list: byId('list', 'Whether a list of ids contains this one.', "salt '*' match.list 'server1,server2'"),
    grain: byData('grain', 'Whether a grain has a value (a glob).', "salt '*' match.grain 'os:Ubuntu'"),
    grain_pcre: byData(
      'grain_pcre',
      'Whether a regular expression fits a grain.',
      "salt '*' match.grain_pcre 'os:Fedo.*'",
    ),
    pillar: byData('pillar', 'Whether a pillar key has a value (a glob).', "salt '*' match.pillar 'role:web'"),
    pillar_pcre: byData(
      'pillar_pcre',
      'Whether a regular expression fits a pillar value.',
      "salt '*' match.pillar_pcre 'role:(web|db)'",
    ),
    ipcidr: fn({
      doc: 'Whether an address or network matches one of this minion’s addresses.',
      examples: ["salt '*' match.ipcidr '192.168.44.0/24'"],
      params: { tgt: p.string() },
      run: ({ tgt }, ctx) => matches('ipcidr', tgt, null, defaultDelimiter, ctx),
    }),
    data: fn({
      doc: 'Whether the minion’s data store has a value.',
      examples: ["salt '*' match.data 'spam:eggs'"],
      params: { tgt: p.string() },
      run: ({ tgt }, ctx) => matches('data', tgt, null, defaultDelimiter, ctx),
    }),
    filter_by: fn({
      doc: 'The value of the first matching expression in a dictionary, or that of the default key.',
      examples: [`salt '*' match.filter_by '{web*: frontend, db*: backend}' minion_id=db03`],
      params: { lookup: p.dict(), ...choiceParams, default: p.scalar({ default: 'default', nullable: true }) },
      run: (args, ctx) => choose(dictEntries(args.lookup), args, dictGet(args.lookup, args.default) ?? null, ctx),
    }),
    search_by: fn({
      doc: 'The keys of a dictionary whose lists contain a matching expression; None when none does.',
      examples: [`salt '*' match.search_by '{web: [node1, node2], db: [db*]}'`],
      params: { lookup: p.dict(), tgt_type: choiceParams.tgt_type, minion_id: minionId },
      async run({ lookup, tgt_type, minion_id }, ctx) {
        const found: Value[] = [];
        for (const [key, targets] of dictEntries(lookup)) {
          for (const target of Array.isArray(targets) ? targets : [...pyStr(targets)]) {
            if (await matches(kindOf(tgt_type), target, minion_id, defaultDelimiter, ctx)) found.push(key);
          }
        }
        return found.length > 0 ? found : null;
      },
    }),
    ifelse: fn({
      doc: 'Takes pairs of expression and value and a last value: returns the value of the first matching expression, or the last.',
      examples: [`salt '*' match.ifelse 'web*' frontend 'db*' backend other`],
      params: { args: p.rest(), ...choiceParams },
      run({ args, ...choice }, ctx) {
        if (args.length % 2 === 0)
          throw pythonError('SaltException', 'The ifelse function must have an odd number of arguments!');
        const pairs: [Value, Value][] = [];
        for (let i = 0; i + 1 < args.length; i += 2) {
          const key = args[i] as Value;
          pairs.push([key === true ? '*' : key === false ? 'SALT_IFELSE_MATCH_NOTHING' : key, args[i + 1] as Value]);
        }
        return choose(pairs, choice, args.at(-1) as Value, ctx);
      },
    }),
  },
});
