// Roster `ansible`: an inventory, or a program that prints one.
import {
  defineRoster,
  dictOf,
  HaliteError,
  isTruthy,
  newDict,
  type PlainDict,
  pyStr,
  type RosterContext,
  type Value,
} from 'halite/sdk';
import { loadJson, loadYaml } from 'halite/sdk/codec';
import { isExecutable, readText } from 'halite/sdk/fs';
import { readIni } from './ini.ts';
import { type Inventory, readListing, readTree } from './inventory.ts';

/** Ansible's names, the newest first, and ours. */
const names: readonly (readonly [string, string])[] = [
  ['ansible_host', 'host'],
  ['ansible_port', 'port'],
  ['ansible_user', 'user'],
  ['ansible_password', 'passwd'],
  ['ansible_ssh_host', 'host'],
  ['ansible_ssh_port', 'port'],
  ['ansible_ssh_user', 'user'],
  ['ansible_ssh_pass', 'passwd'],
  ['ansible_ssh_private_key_file', 'priv'],
  ['ansible_become', 'sudo'],
  ['ansible_sudo_pass', 'sudo_passwd'],
  ['ansible_become_password', 'sudo_passwd'],
];

function entryOf(host: string, variables: PlainDict): PlainDict {
  const entry = newDict([['host', host]]);
  const rest = newDict(Object.entries(variables));
  for (const [theirs, ours] of names) {
    const value = rest[theirs];
    delete rest[theirs];
    if (value === undefined || value === null || value === '') continue;
    if (ours === 'sudo') entry['sudo'] = isTruthy(value) && !/^(no|false|off)$/i.test(pyStr(value));
    else entry[ours] = ours === 'port' ? Number(value) : value;
    if (ours === 'sudo_passwd') entry['sudo'] = true;
  }
  entry['minion_opts'] = rest;
  return entry;
}

async function read(file: string, ctx: RosterContext): Promise<Inventory> {
  if (isExecutable(file)) {
    const { stdout, stderr, retcode } = await ctx.exec(file, ['--list'], { timeoutMs: 60_000 });
    if (retcode !== 0)
      throw new HaliteError('call.failed', `${file} --list ended with ${retcode}: ${stderr.slice(0, 500)}`);
    return readListing(file, loadJson(stdout));
  }
  const text = readText(file) ?? '';
  const trimmed = text.trimStart();
  if (trimmed.startsWith('{')) return readListing(file, loadJson(text));
  if (/\.ya?ml$/.test(file) || /^(---|[\w.-]+:\s*(#.*)?$)/m.test(trimmed.split('\n', 1)[0] ?? ''))
    return readTree(file, loadYaml(text));
  return readIni(file, text);
}

export default defineRoster({
  name: 'ansible',
  doc: 'An inventory of Ansible (INI, YAML, JSON), or a program that prints one; `-N` takes its groups.',
  async targets({ tgt, kind }, ctx) {
    const inventory = await read(ctx.rosterFile(), ctx);
    const ids =
      kind === 'nodegroup' && typeof tgt === 'string' ? inventory.membersOf(tgt) : ctx.matching(inventory.hosts());
    return dictOf(ids.map((id): [string, Value] => [id, entryOf(id, inventory.variablesOf(id))]));
  },
});
