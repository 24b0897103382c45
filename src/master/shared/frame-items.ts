// What a member takes from the ledger: the engine has checked the types of every field, this checks what they say.
import { isJid } from '../../base/util/jid.ts';
import { isValidMinionId } from '../../base/util/valid-id.ts';
import { mostMembers } from '../../engine/cluster/api.ts';
import type { LedgerItem } from '../../engine/cluster/messages.ts';
import { isProblem } from '../../protocol/wire/messages/fields.ts';
import { readJobReturn } from '../../protocol/wire/messages/job-return.ts';

/** Runs of one job on one minion. */
const mostAttempts = 1_000;
const longestText = 64 * 1024;

/** Why an item of a member cannot be taken; undefined when it can. */
export function acceptable(item: LedgerItem, from: number): string | undefined {
  if (from < 0 || from >= mostMembers) return 'it comes from no member';
  switch (item.kind) {
    case 'job':
    case 'own':
      if (!isJid(item.job.jid)) return 'the jid is malformed';
      // Only the member that published a job says what it is.
      if (item.job.owner !== from) return `it names member ${item.job.owner} as the owner of its job`;
      return item.kind === 'own' && !item.job.expected.includes(item.job.tgt) ? 'it is a run of nobody' : undefined;
    case 'ret':
      return ofMinion(item) ?? resultProblem(item);
    case 'verdict':
      return ofMinion(item) ?? (item.text.length > longestText ? 'its text is too long' : undefined);
  }
}

const isMinion = (id: string): boolean => isValidMinionId(id);

function ofMinion({ jid, id }: { readonly jid: string; readonly id: string }): string | undefined {
  if (!isJid(jid)) return 'the jid is malformed';
  return isMinion(id) ? undefined : 'it is of no minion';
}

/** The result itself must be that of the minion and job that its record names. */
function resultProblem({ jid, id, attempt, load }: Extract<LedgerItem, { kind: 'ret' }>): string | undefined {
  if (attempt < 1 || attempt > mostAttempts) return 'the run of the job is impossible';
  const ret = readJobReturn(load);
  if (isProblem(ret)) return ret.problem;
  return ret.id === id && ret.jid === jid ? undefined : 'the result is of another minion or job';
}
