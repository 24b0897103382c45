// Roster `sshknownhosts`: the hosts whose keys are known.
import { asText, defineRoster, dictOf, HaliteError, newDict } from 'halite/sdk';
import { readText } from 'halite/sdk/fs';

const withPort = /^\[(.+)\]:(\d{1,5})$/;

export default defineRoster({
  name: 'sshknownhosts',
  doc: 'The hosts of `ssh_known_hosts_file`; names that the file holds only as hashes cannot be used.',
  async targets(_target, ctx) {
    const file = asText(ctx.opts['ssh_known_hosts_file']) ?? '';
    const text = file ? readText(file) : undefined;
    if (text === undefined) throw new HaliteError('config.missing', `Cannot find SSH known_hosts file ${file}`.trim());
    const names = new Set<string>();
    let hashed = 0;
    for (const each of text.split('\n')) {
      const words = each.trim().split(/\s+/);
      if (words[0]?.startsWith('#') || words[0]?.startsWith('@') || words.length < 3) continue;
      if (words[0]?.startsWith('|')) hashed++;
      else for (const name of words[0]?.split(',') ?? []) names.add(name);
    }
    if (hashed > 0) ctx.log.warn('names that are stored as hashes are left out', { file, names: hashed });
    return dictOf(
      ctx.matching([...names]).map((name) => {
        const [, host = name, port] = withPort.exec(name) ?? [];
        return [name, newDict([['host', host], ...(port ? [['port', Number(port)] as const] : [])])];
      }),
    );
  },
});
