// What the process that leads a fleet and those that play the minions say to each other.
import type { Snapshot } from './counters.ts';
import type { FleetNews } from './fleet.ts';
import type { FleetOptions } from './options.ts';

export type PartOrder =
  | { readonly do: 'start'; readonly options: FleetOptions }
  | { readonly do: 'snapshot'; readonly ticket: number }
  | { readonly do: 'storm'; readonly share: number }
  | { readonly do: 'hold' | 'release' | 'reset' | 'stop' };

export type PartNews =
  | FleetNews
  | { readonly say: 'snapshot'; readonly ticket: number; readonly snapshot: Snapshot }
  | { readonly say: 'failed'; readonly why: string };
