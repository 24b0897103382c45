// Roster `dir`: a folder with one file for each host, named by its id.
import { asText, defineRoster, dictEntries, dictHas, dictOf, isDict, messageOf, type Value } from 'halite/sdk';
import { listDir } from 'halite/sdk/fs';

export default defineRoster({
  name: 'dir',
  doc: 'The files of a folder (`roster_dir`): the name of a file is the id of a host, its content the entry.',
  async targets(_target, ctx) {
    const folder = asText(ctx.opts['roster_dir']) ?? '/etc/salt/roster.d';
    const domain = asText(ctx.opts['roster_domain']) ?? '';
    const found: [string, Value][] = [];
    // Matched first: files of other hosts are not opened.
    for (const id of ctx.matching([...(await listDir(folder))].sort())) {
      try {
        const entry = await ctx.render(`${folder}/${id}`);
        if (!isDict(entry) || dictEntries(entry).length === 0) continue;
        const host: [Value, Value][] = dictHas(entry, 'host') ? [] : [['host', `${id}.${domain}`]];
        found.push([id, dictOf([...dictEntries(entry), ...host])]);
      } catch (error) {
        ctx.log.warn('a roster file could not be rendered', { file: `${folder}/${id}`, error: messageOf(error) });
      }
    }
    return dictOf(found);
  },
});
