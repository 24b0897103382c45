// --preview-target: who would be reached, and in which state they are.
import type { ClientOpts } from '../../base/config/opts.ts';
import { exitCodes } from '../../base/util/exit-codes.ts';
import type { LocalClient, TargetPreview } from '../../engine/client/api.ts';
import type { Display } from '../output.ts';
import { flagOption, type Settings, textOption } from '../settings.ts';
import type { SaltRequest } from './request.ts';

/** Counts before the job is sent: `2 connected, 1 away (db1), 1 not evaluated (web9)`. */
export function preflight(preview: TargetPreview): string {
  const state = (id: string): unknown => preview.connected[id];
  const away = preview.minions.filter((id) => state(id) === 'no');
  const there = preview.minions.filter((id) => state(id) === 'yes');
  const unsure = preview.minions.filter((id) => state(id) !== 'yes' && state(id) !== 'no');
  const parts = [`${there.length} connected`];
  const add = (ids: readonly string[], what: string): void => {
    if (ids.length > 0) parts.push(`${ids.length} ${what} (${ids.join(', ')})`);
  };
  add(away, 'away');
  add(unsure, 'not seen yet');
  add(preview.unknown, 'not evaluated');
  return parts.join(', ');
}

export async function showPreview(
  client: LocalClient,
  settings: Settings<ClientOpts>,
  request: SaltRequest,
  display: Display,
): Promise<number> {
  const preview = await client.previewTarget(request.tgt, request.tgtType, {
    delimiter: textOption(settings, 'delimiter'),
  });
  const ids = [...preview.minions, ...preview.unknown].sort();
  if (ids.length === 0) {
    settings.io.err('ERROR: No return received\n');
    return exitCodes.noReturn;
  }
  await display.show(ids, 'nested');
  if (flagOption(settings, 'verbose') || flagOption(settings, 'explain')) settings.io.err(`${preflight(preview)}\n`);
  return exitCodes.ok;
}
