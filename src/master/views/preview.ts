// Before a job is sent: in which class the minions of a target are. Only of minions that the caller may see.
import { textField, textsField } from '../../base/codec/fields.ts';
import { isTexts, newDict, type PlainDict } from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import type { ViewRights } from '../authorization/view-rights.ts';
import { type Preflight, type PreflightClass, preflightClasses, preflightText } from '../publish/preflight.ts';
import type { MatchOptions } from '../publish/targets.ts';
import { limitsOf } from './fleet-view.ts';

export interface PreviewParts {
  preflight(tgt: string | readonly string[], kind: string, options: MatchOptions): Preflight;
}

export function previewFor({ preflight }: PreviewParts, rights: ViewRights, args: PlainDict): PlainDict {
  const tgt = textsField(args, 'tgt');
  if (tgt === undefined)
    throw new HaliteError('call.arguments', 'A preview needs a target: a text or a list of texts.');
  const kind = textField(args, 'tgt_type') || (isTexts(tgt) ? 'list' : 'glob');
  const { classes } = preflight(tgt, kind, limitsOf(rights));
  const shown = Object.fromEntries(
    preflightClasses.map((name) => [
      name,
      newDict(Object.entries(classes[name]).filter(([id]) => rights.coversAll || rights.covers(id))),
    ]),
  ) as Record<PreflightClass, PlainDict>;
  const total = Object.values(shown).reduce((sum, ids) => sum + Object.keys(ids).length, 0);
  return newDict([
    ['total', total],
    ['classes', newDict(Object.entries(shown))],
    ['summary', preflightText(shown)],
  ]);
}
