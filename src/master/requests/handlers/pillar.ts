// `_pillar`: compiles a minion's pillar in a worker and stores its grains and pillar for targeting.
import { type Dict, dictEntries, dictOf, newDict, type PlainDict } from '../../../base/codec/value.ts';
import type { MasterOpts } from '../../../base/config/index.ts';
import { messageOf } from '../../../base/errors/index.ts';
import type { Logger } from '../../../base/log/index.ts';
import { listFirst } from '../../../base/util/list-first.ts';
import { failedPillar, type PillarService } from '../../../engine/pillar/service.ts';
import type { PillarRequest } from '../../../engine/pillar/types.ts';
import type { EventBus } from '../../../protocol/event/bus.ts';
import { acceptGrains } from '../../../protocol/wire/messages/minion-grains.ts';
import { type PillarFields, readPillarFields } from '../../../protocol/wire/messages/minion-loads.ts';
import type { Fleet } from '../../fleet/fleet.ts';
import type { Sender } from '../sender.ts';
import type { Handlers } from './table.ts';

export interface PillarParts {
  readonly opts: Pick<MasterOpts, 'minion_data_cache' | 'minion_data_cache_events'>;
  readonly log: Pick<Logger, 'limited' | 'error'>;
  readonly bus: Pick<EventBus, 'fire'>;
  readonly fleet: Pick<Fleet, 'data' | 'setData'>;
  readonly pillars: Pick<PillarService, 'compile' | 'get'>;
}

export function pillarHandlers(parts: PillarParts): Handlers {
  return { _pillar: { reply: 'private', run: (load, sender) => answer(parts, load, sender) } };
}

async function answer(parts: PillarParts, load: PlainDict, sender: Sender): Promise<Dict> {
  const fields = readPillarFields(load);
  const request = requestOf(parts, fields, sender.id);
  let pillar: Dict;
  try {
    pillar = await compile(parts, request, sender, fields.cleanCache);
  } catch (error) {
    parts.log.error('a pillar could not be compiled', { minion: sender.id, error: messageOf(error) });
    // Grains are stored in any case; the previous pillar stays.
    remember(parts, sender, request.grains, parts.fleet.data(sender.id)?.pillar ?? newDict());
    return failedPillar(`The pillar could not be compiled: ${messageOf(error)}`);
  }
  // Values of one command (`pillar=`) are only for that command.
  if (request.override === undefined) remember(parts, sender, request.grains, pillar);
  return pillar;
}

/** Only its owner can decrypt the answer, but grains of a disputed sender may be forged: they are not stored. */
const compile = ({ pillars }: PillarParts, request: PillarRequest, { trust }: Sender, clean: boolean): Promise<Dict> =>
  trust === 'disputed' ? pillars.compile(request) : pillars.get(request, clean);

/** The id is the authenticated one, independent of the id in the grains. */
function requestOf(parts: PillarParts, fields: PillarFields, id: string): PillarRequest {
  const { saltenv, pillarenv, override, ext, extraMinionData } = fields;
  const grains = dictEntries(grainsOf(parts, fields.grains, id)).filter(([key]) => key !== 'id');
  return { minionId: id, grains: dictOf([...grains, ['id', id]]), saltenv, pillarenv, override, ext, extraMinionData };
}

function grainsOf(parts: PillarParts, given: Dict, id: string): Dict {
  const { grains, dropped } = acceptGrains(given);
  if (dropped.length > 0) {
    const fields = { minion: id, grains: listFirst(dropped, 5) };
    parts.log.limited(`grains:${id}`, 'warn', 'grains that are too large or too deep are dropped', fields);
  }
  return grains;
}

/** For targeting; the answer does not wait for the disk. A repeated request may contain outdated grains. */
function remember(parts: PillarParts, { id, trust, repeated }: Sender, grains: Dict, pillar: Dict): void {
  if (!parts.opts.minion_data_cache || repeated || trust === 'disputed') return;
  parts.fleet.setData(id, { grains, pillar }).catch((error: unknown) => {
    parts.log.limited('store', 'error', 'grains could not be stored', { error: messageOf(error) });
  });
  if (parts.opts.minion_data_cache_events) {
    parts.bus.fire(`minion/refresh/${id}`, { 'Minion data cache refresh': id });
  }
}
