// The numbers of the fleet: loaded once, then kept up to date by the stream.
import { type FleetSummary, fleetSummary, mergeSummary } from '../api/fleet.ts';
import { useLive } from '../live/link.ts';
import { type Loaded, useLoad } from '../state/load.ts';

export function useSummary(): Loaded<FleetSummary> {
  const loaded = useLoad(fleetSummary, []);
  useLive('summary', (message) => {
    if (message.kind !== 'summary') return;
    const before = loaded.value.peek();
    if (before) loaded.value.value = mergeSummary(before, message.counts);
  });
  return loaded;
}
