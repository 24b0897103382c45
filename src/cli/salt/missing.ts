// Messages for minions without an answer: Salt's own line first, then the reason.

import { pyStr } from '../../base/codec/python/repr.ts';
import { type Dict, dictEntries, dictOf, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { listFirst } from '../../base/util/list-first.ts';
import type { MissingReason } from '../../engine/client/api.ts';
import type { MissingItem, Tally } from './tally.ts';

/** Reasons after which a result may still arrive. */
const later = new Set(['silent', 'accepted-silent', 'no-record', 'duplicate-id', 'below-silent']);

const lookUp = (jid: string): string =>
  'The minions may not have all finished running and any remaining minions will return upon completion. ' +
  'To look up the return data for this job later, run the following command:\n\n' +
  `salt-run jobs.lookup_jid ${jid}`;

const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** `Minion did not return. [No response]`, the reason, and with --explain its evidence. */
export function missingText(item: MissingItem, jid: string, explain: boolean): string {
  const lines = [`Minion did not return. [${item.connected ? 'No response' : 'Not connected'}]`];
  if (item.reason.text) lines.push(sentence(item.reason.text));
  if (explain)
    for (const [key, value] of dictEntries(item.reason.evidence)) lines.push(`  ${pyStr(key)}: ${pyStr(value)}`);
  if (item.connected && jid !== '' && later.has(item.reason.code)) lines.push(lookUp(jid));
  return lines.join('\n');
}

/** The reason as data, for `--explain` with a machine-readable outputter. */
export function reasonData(reason: MissingReason): PlainDict {
  return newDict([
    ['code', reason.code],
    ['text', reason.text],
    ['evidence', reason.evidence],
  ]);
}

/** Key under which `--explain` puts the reasons next to the answers. */
const explainKey = '__explain__';

/** Answers with the reasons of missing minions added, when requested. */
export function withReasons(
  answers: readonly (readonly [string, Value])[],
  reasons: ReadonlyMap<string, PlainDict>,
): Dict {
  if (reasons.size === 0) return dictOf(answers);
  return dictOf([...answers, [explainKey, dictOf([...reasons])]]);
}

/** Number of minions listed on Ctrl-C before the list is truncated. */
const named = 10;

type Open = Pick<Tally, 'jid' | 'batch' | 'open'>;

/** The minions that have not answered yet, with their last output. */
function openLine(tally: Open): string[] {
  const open = tally.open();
  const names = open.map(([id, text]) => (text ? `${id} (${text})` : id));
  return open.length > 0 ? [`No result yet from ${listFirst(names, named)}.`] : [];
}

/** The text that Salt prints on Ctrl-C, and the minions that have not answered yet. */
export function interruptText(tally: Open): string {
  const { jid } = tally;
  if (jid === '') return '\nExiting gracefully on Ctrl-c\n';
  const lines = [`\nExiting gracefully on Ctrl-c\nThis job's jid is: ${jid}\n${lookUp(jid)}`];
  lines.push(...openLine(tally));
  if (tally.batch) lines.push(`The batch continues without this command. To stop it: salt-run jobs.cancel ${jid}`);
  return `${lines.join('\n')}\n`;
}

/** The master ended for good: what goes on without it, and where the rest can be seen. */
export function goneText(tally: Open & Pick<Tally, 'others' | 'sent'>, why: string): string {
  const { jid, others } = tally;
  const lookup = `salt-run jobs.lookup_jid ${jid}`;
  if (!tally.sent) {
    const where = others.length > 0 ? `On ${listFirst(others, named)}` : 'When it runs again, on this machine';
    return `${why} It did not say whether the job ${jid} was sent.\n${where}: ${lookup}`;
  }
  const next =
    others.length > 0
      ? [`The other masters go on with it. On ${listFirst(others, named)}: ${lookup}`]
      : [
          `When it runs again, on this machine: ${lookup}`,
          'Halite minions with several masters give their results to another one meanwhile: the same command there shows them.',
        ];
  const kept = others.length > 0 ? '' : ', which keep their results for this master';
  return [`${why} The job ${jid} goes on at its minions${kept}.`, ...openLine(tally), ...next].join('\n');
}

export const unsentText = (ids: readonly string[]): string =>
  `The batch ended with the master: the job was not sent to ${listFirst(ids, named)}.\n` +
  `Send it to them with a target of their names: salt -L ${ids.slice(0, named).join(',')}${ids.length > named ? ',…' : ''}\n`;
