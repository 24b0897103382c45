// Engine `test`: writes events into the log, as an example.
import { defineEngine } from 'halite/sdk';
import { toLine } from './shared/events.ts';

export default defineEngine({
  name: 'test',
  doc: 'Writes every event into the log, with the level debug.',
  examples: ['engines:\n  - test'],
  params: {},
  async start(_, ctx) {
    for await (const { tag, data } of ctx.events()) ctx.log.debug(`${tag} ${toLine(data)}`);
  },
});
