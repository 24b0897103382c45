// Wheel `minions`: the connected minions.
import { defineWheel, masterFn } from 'halite/sdk';

export default defineWheel({
  name: 'minions',
  doc: 'The connected minions.',
  functions: {
    connected: masterFn({
      doc: 'Ids of all minions that are connected.',
      examples: ["salt '*' saltutil.wheel minions.connected"],
      params: {},
      run: (_args, ctx) =>
        ctx.master.fleet
          .all()
          .filter((minion) => minion.connected === 'yes')
          .map(({ id }) => id)
          .sort(),
    }),
  },
});
