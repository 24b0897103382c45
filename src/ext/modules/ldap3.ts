// Execution module `ldap3`: entries of a directory, with the tools of OpenLDAP.

import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  commandError,
  defineModule,
  dictEntries,
  dictGet,
  fn,
  isDict,
  isTruthy,
  type ModuleContext,
  needsPrograms,
  newDict,
  oneOrMore,
  type PlainDict,
  p,
  pyStr,
  pythonError,
  type Value,
} from 'halite/sdk';
import { mkdtempSync, rmSync, writeFileSync } from 'halite/sdk/fs';
import { type Answer, command } from './shared/command.ts';

/** Entries by name: attribute → values. Values that are no text stay bytes. */
export function parseLdif(text: string): PlainDict {
  const found = newDict();
  const unfolded = text.replaceAll('\r', '').replace(/\n /g, '');
  for (const block of unfolded.split(/\n\n+/)) {
    const entry: Record<string, Value[]> = newDict() as Record<string, Value[]>;
    let name: string | undefined;
    for (const line of block.split('\n')) {
      const match = /^([^:#\s][^:]*)(::?)[ ]?(.*)$/s.exec(line);
      if (!match) continue;
      const [, key = '', colons, raw = ''] = match;
      const value: Value = colons === '::' ? decoded(Buffer.from(raw, 'base64')) : raw;
      if (key === 'dn') name = pyStr(value);
      else if (name !== undefined) {
        entry[key] ??= [];
        if (line.trim() !== `${key}:`) entry[key].push(value);
      }
    }
    if (name !== undefined) found[name] = newDict(Object.entries(entry));
  }
  return found;
}

function decoded(bytes: Buffer): Value {
  const text = bytes.toString('utf8');
  return Buffer.from(text, 'utf8').equals(bytes) ? text : new Uint8Array(bytes);
}

/** One attribute; encoded so that the value cannot add another line. */
function attribute(key: string, value: Value): string {
  const bytes = value instanceof Uint8Array ? Buffer.from(value) : Buffer.from(pyStr(value), 'utf8');
  return `${key.replace(/[^\w;.-]/g, '')}:: ${bytes.toString('base64')}`;
}

const valuesOf = (given: Value | undefined): Value[] => (given === undefined || given === null ? [] : oneOrMore(given));
const entriesOf = (dict: Value): [string, Value[]][] =>
  isDict(dict) ? dictEntries(dict).map(([key, value]) => [pyStr(key), valuesOf(value)]) : [];

/** Runs a tool against the server of a connection; the password is passed in a file that only this user can read. */
async function ask(
  tool: string,
  spec: Value,
  argv: readonly string[],
  ctx: ModuleContext,
  stdin?: string,
): Promise<Answer> {
  const of = (dict: Value | undefined, key: string): Value =>
    dict !== undefined && isDict(dict) ? (dictGet(dict, key) ?? null) : null;
  const bind = of(spec, 'bind');
  const method = isDict(bind) ? (of(bind, 'method') ?? 'simple') : null;
  if (method !== null && method !== 'simple' && method !== 'sasl')
    throw pythonError('ValueError', `unsupported bind method "${pyStr(method)}"; supported bind methods: simple sasl`);
  const folder = mkdtempSync(join(tmpdir(), 'halite-ldap-'));
  try {
    const secret = join(folder, 'password');
    writeFileSync(secret, pyStr(of(bind, 'password') ?? ''), { mode: 0o600 });
    const simple = ['-x', ...(isTruthy(of(bind, 'dn')) ? ['-D', pyStr(of(bind, 'dn')), '-y', secret] : [])];
    const sasl = ['-Q', '-Y', pyStr(of(bind, 'mechanism') ?? 'EXTERNAL').toUpperCase()];
    const who = method === 'sasl' ? sasl : simple;
    const tls = isTruthy(of(of(spec, 'tls'), 'starttls')) ? ['-ZZ'] : [];
    const to = ['-H', pyStr(of(spec, 'url') ?? 'ldapi:///'), ...tls, ...who];
    return await command(ctx, [tool, ...to, ...argv], { ignore_retcode: true, stdin: stdin ?? null });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** 32 is "no such object". */
function checked(answer: Answer): Answer {
  if (answer.retcode !== 0)
    throw commandError(`exception in ldap backend: ${answer.stderr.trim() || `status ${answer.retcode}`}`);
  return answer;
}

/** Sends changes in LDIF. */
async function change(spec: Value, dn: string, lines: readonly string[], ctx: ModuleContext): Promise<true> {
  checked(await ask('ldapmodify', spec, [], ctx, `${[attribute('dn', dn), ...lines].join('\n')}\n`));
  return true;
}

const scopes: Readonly<Record<string, string>> = {
  base: 'base',
  onelevel: 'one',
  subtree: 'sub',
  subordinate: 'children',
};

const connect_spec = p.dict({ nullable: true, doc: 'url, bind (method, dn, password) and tls of the connection' });
const dn = p.string({ doc: 'name of the entry' });
const operations = new Set(['add', 'delete', 'replace']);

const modification = (operation: string, key: string, values: readonly Value[]): string[] => [
  `${operation}: ${key.replace(/[^\w;.-]/g, '')}`,
  ...values.map((value) => attribute(key, value)),
  '-',
];

export default defineModule({
  name: 'ldap3',
  doc: 'Entries of a directory.',
  available: needsPrograms(['ldapsearch'], () => 'Cannot load ldap3 module: ldapsearch is not installed'),
  reads: ['search'],
  functions: {
    search: fn({
      doc: 'Entries that match, by name: attribute → list of values.',
      examples: ["salt '*' ldap3.search \"{url: 'ldap://ldap.example.com/'}\" dc=example,dc=com filterstr='(uid=amy)'"],
      params: {
        connect_spec,
        base: p.string({ doc: 'where to begin' }),
        scope: p.string({ default: 'subtree', doc: 'base, onelevel or subtree' }),
        filterstr: p.string({ default: '(objectClass=*)', doc: 'which entries' }),
        attrlist: p.strings({ default: null, doc: 'which attributes; all otherwise' }),
        attrsonly: p.truthy({ default: 0, doc: 'names of attributes only' }),
      },
      async run(args, ctx) {
        const scope = scopes[args.scope.toLowerCase()];
        if (scope === undefined) throw commandError(`'${args.scope}' is not a scope`);
        const only = args.attrsonly ? ['-A'] : [];
        const argv = ['-LLL', '-o', 'ldif-wrap=no', ...only, '-s', scope, '-b', args.base, '--', args.filterstr];
        const answer = await ask(
          'ldapsearch',
          args.connect_spec,
          [...argv, ...valuesOf(args.attrlist).map(pyStr)],
          ctx,
        );
        return answer.retcode === 32 ? newDict() : parseLdif(checked(answer).stdout);
      },
    }),
    add: fn({
      doc: 'Adds an entry.',
      examples: [
        "salt '*' ldap3.add \"{url: 'ldapi:///'}\" uid=amy,dc=example,dc=com '{objectClass: [account], uid: [amy]}'",
      ],
      params: { connect_spec, dn, attributes: p.dict({ doc: 'attribute → values' }) },
      run(args, ctx) {
        const lines = entriesOf(args.attributes).flatMap(([key, values]) => values.map((one) => attribute(key, one)));
        return change(args.connect_spec, args.dn, ['changetype: add', ...lines], ctx);
      },
    }),
    delete: fn({
      doc: 'Removes an entry.',
      examples: ["salt '*' ldap3.delete \"{url: 'ldapi:///'}\" uid=amy,dc=example,dc=com"],
      params: { connect_spec, dn },
      run: (args, ctx) => change(args.connect_spec, args.dn, ['changetype: delete'], ctx),
    }),
    modify: fn({
      doc: 'Changes attributes of an entry: a list of operation (add, delete, replace), attribute and values.',
      examples: [
        "salt '*' ldap3.modify \"{url: 'ldapi:///'}\" uid=amy,dc=example,dc=com '[[replace, mail, [amy@example.com]]]'",
      ],
      params: { connect_spec, dn, directives: p.list({ doc: 'the list' }) },
      run(args, ctx) {
        const lines = valuesOf(args.directives).flatMap((directive) => {
          const [operation = '', key = '', values] = valuesOf(directive);
          if (!operations.has(pyStr(operation))) throw commandError(`'${pyStr(operation)}' is not an operation`);
          return modification(pyStr(operation), pyStr(key), valuesOf(values));
        });
        return change(args.connect_spec, args.dn, ['changetype: modify', ...lines], ctx);
      },
    }),
    change: fn({
      doc: 'Changes an entry from one state to another: only attributes that differ are sent.',
      examples: [
        "salt '*' ldap3.change \"{url: 'ldapi:///'}\" uid=amy,dc=example,dc=com '{mail: [a@x]}' '{mail: [b@x]}'",
      ],
      params: {
        connect_spec,
        dn,
        before: p.oneOf(['dict', 'list'], { doc: 'attributes now' }),
        after: p.oneOf(['dict', 'list'], { doc: 'attributes wanted' }),
      },
      async run(args, ctx) {
        const [before, after] = [new Map(entriesOf(args.before)), new Map(entriesOf(args.after))];
        const same = (a: Value[], b: Value[]): boolean =>
          a.map(pyStr).sort().join('\0') === b.map(pyStr).sort().join('\0');
        const lines = [...after]
          .filter(([key, values]) => !same(before.get(key) ?? [], values))
          .flatMap(([key, values]) => modification('replace', key, values));
        const gone = [...before.keys()]
          .filter((key) => !after.has(key))
          .flatMap((key) => modification('delete', key, []));
        if (lines.length + gone.length === 0) return true;
        return change(args.connect_spec, args.dn, ['changetype: modify', ...lines, ...gone], ctx);
      },
    }),
  },
});
