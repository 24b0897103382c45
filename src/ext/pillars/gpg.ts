// External pillar `gpg`: decrypts the data of the preceding sources.
import { type Dict, definePillar, p } from 'halite/sdk';

export default definePillar({
  name: 'gpg',
  doc: 'Decrypts every PGP message in the pillar compiled so far. Best as the last external pillar.',
  params: { args: p.rest(), kwargs: p.kwargs() },
  compile: async (_args, ctx) => (await ctx.decrypt(ctx.pillar, 'gpg')) as Dict,
});
