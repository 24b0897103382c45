// --preview-target: which minions would be reached, and their status.
import { isatty } from 'node:tty';
import { newDict } from '../../base/codec/value.ts';
import type { ClientOpts } from '../../base/config/opts.ts';
import { exitCodes } from '../../base/util/exit-codes.ts';
import type { LocalClient } from '../../engine/client/api.ts';
import { chooseOutputter, type Display } from '../output.ts';
import { flagOption, type Settings, textOption } from '../settings.ts';
import { nodegroupsFor, type SaltRequest } from './request.ts';

const isStructured = (settings: Settings<ClientOpts>): boolean =>
  ['json', 'yaml', 'raw', 'pprint'].includes(chooseOutputter(undefined, settings.values));

export async function showPreview(
  client: LocalClient,
  settings: Settings<ClientOpts>,
  request: SaltRequest,
  display: Display,
): Promise<number> {
  const nodegroups = nodegroupsFor(settings, request);
  const preview = await client.previewTarget(request.tgt, request.tgtType, {
    delimiter: textOption(settings, 'delimiter'),
    ...(nodegroups ? { nodegroups } : {}),
  });
  const ids = [...preview.minions, ...preview.unknown].sort();
  if (ids.length === 0) {
    settings.io.err('ERROR: No return received\n');
    return exitCodes.noReturn;
  }
  const explain = flagOption(settings, 'explain');
  if (explain && isStructured(settings)) {
    await display.show(newDict([['minions', ids], ...Object.entries(preview.classes)]));
    return exitCodes.ok;
  }
  await display.show(ids, 'nested');
  // Scripts that read both streams get Salt's output; people get the counts.
  if (explain || flagOption(settings, 'verbose') || isatty(2)) settings.io.err(`${preview.summary}\n`);
  return exitCodes.ok;
}
