// Execution module `pdbedit`: accounts of Samba.
import {
  defineModule,
  fn,
  isDict,
  isTruthy,
  type ModuleContext,
  newDict,
  type PlainDict,
  p,
  pyStr,
  type Value,
} from 'halite/sdk';
import { which } from 'halite/sdk/system';
import { lines, partition } from 'halite/sdk/text';
import { changesOf, details, options } from '../../shared/pdbedit/details.ts';
import { command, complaint } from '../shared/command.ts';
import { md4 } from './md4.ts';

/** Accounts in full, as pdbedit prints them between rules. */
export function parseAccounts(text: string): PlainDict {
  const found = newDict();
  for (const part of text.split(/\n-+|-+\n/)) {
    const account = newDict();
    let last = '';
    for (const line of lines(part)) {
      if (line.trim() === '') continue;
      const [label, colon, value] = partition(line, ':');
      if (colon === '') account[last] = `${pyStr(account[last] ?? '')}${line.trim()}`;
      else {
        last = label.trim().toLowerCase();
        account[last] = value.trim();
      }
    }
    if (Object.keys(account).length > 0) found[pyStr(account['unix username'] ?? '')] = account;
  }
  return found;
}

async function accounts(hashes: boolean, ctx: ModuleContext): Promise<PlainDict> {
  const style = hashes ? ['--smbpasswd-style'] : [];
  const done = await command(ctx, ['pdbedit', '--list', '--verbose', ...style]);
  if (done.retcode === 0) return parseAccounts(done.stdout);
  ctx.log.error(complaint(done));
  return newDict();
}

async function logins(ctx: ModuleContext): Promise<string[] | PlainDict> {
  const done = await command(ctx, ['pdbedit', '--list']);
  if (done.retcode !== 0) return newDict([['Error', complaint(done)]]);
  const rows = lines(done.stdout).map((line) => line.split(':'));
  return rows.filter((row) => row.length >= 3).map(([login]) => login ?? '');
}

const isKnown = async (login: string, ctx: ModuleContext): Promise<boolean> => {
  const all = await logins(ctx);
  return Array.isArray(all) ? all.includes(login) : login in all;
};

const account = async (login: string, hashes: boolean, ctx: ModuleContext): Promise<PlainDict> => {
  const found = (await accounts(hashes, ctx))[login];
  return newDict(isDict(found ?? null) ? Object.entries(found as PlainDict) : []);
};

const ntHash = (password: string): string => md4(Buffer.from(password, 'utf16le')).toString('hex').toUpperCase();

async function create(
  login: string,
  given: { password: string; password_hashed: boolean; machine_account?: boolean },
  ctx: ModuleContext,
): Promise<string> {
  const hash = given.password_hashed ? given.password.toUpperCase() : ntHash(given.password);
  const plainText = given.password_hashed ? '' : given.password;
  let outcome = 'unchanged';
  if (!(await isKnown(login, ctx))) {
    const machine = given.machine_account ? ['--machine'] : [];
    const stdin = `${plainText}\n${plainText}\n`;
    const done = await command(ctx, ['pdbedit', '--create', '--user', login, '-t', ...machine], { stdin });
    if (done.retcode !== 0) return complaint(done);
    outcome = 'created';
  }
  if ((await account(login, true, ctx))['nt hash'] === hash) return outcome;
  const done = await command(ctx, ['pdbedit', '--modify', '--user', login, `--set-nt-hash=${hash}`]);
  if (done.retcode !== 0) return complaint(done);
  return outcome === 'created' ? outcome : 'updated';
}

const optionFor = (field: string, value: string): string[] => {
  const [name = '', separate] = options.find(([known]) => known === field)?.[2] ?? [];
  return separate === undefined ? [`${name}${value}`] : [name, value];
};

const login = p.string({ doc: 'the account' });
const hashes = p.bool({ default: false, doc: 'with hashes of passwords' });
const password_hashed = p.bool({ default: false, doc: 'the password is a hash already' });

const functions = {
  generate_nt_hash: fn({
    doc: 'The NT hash of a password.',
    examples: ["salt '*' pdbedit.generate_nt_hash my_passwd"],
    params: { password: p.string({ doc: 'the password' }) },
    run: ({ password }) => ntHash(password),
  }),
  list: fn({
    doc: 'Accounts.',
    examples: ["salt '*' pdbedit.list"],
    params: { verbose: p.bool({ default: true, doc: 'with everything about them' }), hashes },
    run: (args, ctx): Promise<Value> => (args.verbose ? accounts(args.hashes, ctx) : logins(ctx)),
  }),
  get: fn({
    doc: 'Everything about one account.',
    examples: ["salt '*' pdbedit.get kif"],
    params: { login, hashes },
    run: (args, ctx) => account(args.login, args.hashes, ctx),
  }),
  delete: fn({
    doc: 'Removes an account.',
    examples: ["salt '*' pdbedit.delete wash"],
    params: { login },
    async run(args, ctx) {
      if (!(await isKnown(args.login, ctx))) return newDict([[args.login, 'absent']]);
      const done = await command(ctx, ['pdbedit', '--delete', args.login]);
      return newDict([[args.login, done.retcode === 0 ? 'deleted' : complaint(done)]]);
    },
  }),
  create: fn({
    doc: 'Creates an account, or sets the password of one.',
    examples: ["salt '*' pdbedit.create zoe secret"],
    params: {
      login,
      password: p.string({ doc: 'the password' }),
      password_hashed,
      machine_account: p.bool({ default: false, doc: 'the account of a computer' }),
    },
    run: async (args, ctx) => newDict([[args.login, await create(args.login, args, ctx)]]),
  }),
  modify: fn({
    doc: 'Sets the given properties of an account; creates it when there is a password.',
    examples: ["salt '*' pdbedit.modify inara fullname='Inara Serra'"],
    params: {
      login,
      password: p.string({ default: null, doc: 'the password' }),
      password_hashed,
      ...details,
      reset_login_hours: p.bool({ default: false, doc: 'allow logon at any hour' }),
      reset_bad_password_count: p.bool({ default: false, doc: 'reset the count of wrong passwords' }),
    },
    async run(args, ctx) {
      const say = (outcome: string): PlainDict => newDict([[args.login, outcome]]);
      let outcome = 'unchanged';
      if (isTruthy(args.password)) {
        const { password_hashed: hashed } = args;
        outcome = await create(args.login, { password: pyStr(args.password), password_hashed: hashed }, ctx);
        if (!['updated', 'created', 'unchanged'].includes(outcome)) return say(outcome);
      } else if (!(await isKnown(args.login, ctx))) return say('absent');
      const changes = changesOf(await account(args.login, true, ctx), args);
      const argv = [
        ...changes.flatMap(([field, value]) => optionFor(field, value)),
        ...(args.reset_login_hours ? ['--logon-hours-reset'] : []),
        ...(args.reset_bad_password_count ? ['--bad-password-count-reset'] : []),
      ];
      if (argv.length === 0) return say(outcome);
      const done = await command(ctx, ['pdbedit', '--modify', '--user', args.login, ...argv]);
      if (done.retcode !== 0) return say(complaint(done));
      return say(outcome === 'created' ? outcome : 'updated');
    },
  }),
};

export default defineModule({
  name: 'pdbedit',
  doc: 'Accounts of Samba.',
  available: () => which('pdbedit') !== null || 'pdbedit command is not available',
  reads: ['generate_nt_hash', 'list', 'get'],
  functions,
});
