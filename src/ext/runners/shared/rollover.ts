// How a change of the master's key stands, as the master tells it.
import { dictGet, isDict, type MasterContext, type Value } from 'halite/sdk';

interface Standing {
  readonly id: string;
  readonly standing: string;
  readonly halite: boolean;
  readonly seen: number;
}

export interface RolloverStatus {
  readonly phase: string;
  readonly from: string;
  readonly to: string;
  readonly at: number;
  readonly switched: number;
  readonly until: number;
  readonly compromised: boolean;
  readonly minions: readonly Standing[];
}

export async function statusOf(ctx: MasterContext): Promise<RolloverStatus> {
  const status = await ctx.master.rollover.status();
  const text = (value: Value | undefined): string => (typeof value === 'string' ? value : '');
  const time = (name: string): number => Number(status[name] ?? 0);
  const minions = (Array.isArray(status['minions']) ? status['minions'] : []).flatMap((value) =>
    isDict(value)
      ? [
          {
            id: text(dictGet(value, 'id')),
            standing: text(dictGet(value, 'standing')),
            halite: dictGet(value, 'halite') === true,
            seen: Number(dictGet(value, 'seen') ?? 0),
          },
        ]
      : [],
  );
  return {
    ...{ phase: text(status['phase']), from: text(status['from']), to: text(status['to']), minions },
    ...{ at: time('at'), switched: time('switched'), until: time('until') },
    compromised: status['compromised'] === true,
  };
}
