// Roster `flat`: one file with all hosts, through its renderers.
import { defineRoster, dictEntries, dictOf, HaliteError, isDict, pyStr } from 'halite/sdk';

export default defineRoster({
  name: 'flat',
  doc: 'The hosts of one file: `roster` in the configuration folder, or that of `--roster-file`.',
  async targets(_target, ctx) {
    const file = ctx.rosterFile();
    const hosts = await ctx.render(file);
    if (!isDict(hosts)) throw new HaliteError('render.failed', `${file} is not a map of hosts`);
    const byId = new Map(dictEntries(hosts).map(([id, entry]) => [pyStr(id), entry]));
    return dictOf(ctx.matching([...byId.keys()]).map((id) => [id, byId.get(id) ?? null]));
  },
});
