// `_master_key`: a Halite minion tells which keys of the master it has, and hears what the master says about the next, and
// whether it should use another master.
import type { PlainDict } from '../../../base/codec/value.ts';
import { masterKeyCommand, masterWordValue, readKnownKeys } from '../../../protocol/wire/messages/master-key.ts';
import type { Rollover } from '../../rollover/rollover.ts';
import type { Sender } from '../sender.ts';
import type { Handlers } from './table.ts';

export const masterKeyHandlers = (
  rollover: Pick<Rollover, 'statement' | 'minions' | 'record'>,
  isDrained: () => boolean,
): Handlers => ({
  [masterKeyCommand]: {
    run: (load: PlainDict, sender: Sender) => {
      const known = readKnownKeys(load);
      // Only its own session proves who says it.
      if (known && sender.trust === 'proven' && rollover.record) rollover.minions.told(sender.id, known);
      return masterWordValue(load, { nextKey: rollover.statement, drained: isDrained() });
    },
  },
});
