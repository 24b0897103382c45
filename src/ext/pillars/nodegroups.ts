// External pillar `nodegroups`: the nodegroups of the minion.
import { type Dict, definePillar, dictEntries, dictOf, isDict, p, pyStr } from 'halite/sdk';

export default definePillar({
  name: 'nodegroups',
  doc: 'Lists the nodegroups the minion belongs to, under pillar_name.',
  params: { pillar_name: p.string({ default: null, doc: 'the key; nodegroups when not given' }) },
  compile({ pillar_name }, ctx): Dict {
    const groups = ctx.opts['nodegroups'];
    const names = groups !== undefined && isDict(groups) ? dictEntries(groups).map(([name]) => pyStr(name)) : [];
    return dictOf([[pillar_name || 'nodegroups', names.filter((name) => ctx.match(name, 'nodegroup'))]]);
  },
});
