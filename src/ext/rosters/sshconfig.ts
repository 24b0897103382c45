// Roster `sshconfig`: the hosts of an OpenSSH client configuration.
import { asText, defineRoster, dictOf, HaliteError, newDict, type PlainDict } from 'halite/sdk';
import { readText } from 'halite/sdk/fs';
import { hasGlob, matchesGlob } from 'halite/sdk/text';

const fields: Readonly<Record<string, string>> = { user: 'user', port: 'port', identityfile: 'priv' };
const line = /^\s*([A-Za-z]+)(?:\s+|\s*=\s*)"?(.*?)"?\s*$/;

interface Block {
  readonly names: readonly string[];
  readonly values: PlainDict;
}

function blocksOf(text: string): Block[] {
  const blocks: Block[] = [];
  let current: Block | undefined;
  for (const [, key = '', value = ''] of text.split('\n').flatMap((each) => {
    const found = each.trim().startsWith('#') ? null : line.exec(each);
    return found ? [found] : [];
  })) {
    const word = key.toLowerCase();
    if (word === 'host' || word === 'match') {
      current = word === 'host' ? { names: value.split(/\s+/), values: newDict() } : undefined;
      if (current) blocks.push(current);
      continue;
    }
    const field = Object.hasOwn(fields, word) ? fields[word] : undefined;
    if (current && field && value !== '') current.values[field] = value;
  }
  return blocks;
}

/** Patterns are no hosts of their own; what they say applies to the plain names that they match. */
function hostsOf(blocks: readonly Block[]): Map<string, PlainDict> {
  const hosts = new Map<string, PlainDict>();
  const named = blocks.flatMap(({ names, values }) => names.map((name) => ({ name, values })));
  const isPattern = (name: string): boolean => hasGlob(name) || name.startsWith('!');
  for (const { name, values } of named)
    if (!isPattern(name)) hosts.set(name, Object.assign(newDict(Object.entries(values)), { host: name }));
  for (const { name: pattern, values } of named)
    if (isPattern(pattern))
      for (const [name, own] of hosts) if (matchesGlob(name, pattern)) Object.assign(own, { ...values, host: name });
  return hosts;
}

export default defineRoster({
  name: 'sshconfig',
  doc: 'The hosts of `ssh_config_file`, with user, port and key; everything else of the file applies too.',
  async targets(_target, ctx) {
    const file = asText(ctx.opts['ssh_config_file']);
    const text = file ? readText(file) : undefined;
    if (text === undefined) throw new HaliteError('config.missing', `Cannot find SSH config file ${file ?? ''}`.trim());
    const hosts = hostsOf(blocksOf(text));
    return dictOf(ctx.matching([...hosts.keys()]).map((id) => [id, hosts.get(id) ?? null]));
  },
});
