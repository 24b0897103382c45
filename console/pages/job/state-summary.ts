// Results of states in one line.
import { fieldsOf, isFields } from '../../api/read.ts';
import { t } from '../../text/text.ts';

/** How many are in order, and which failed; undefined for other answers. */
export function stateSummary(answer: unknown): string | undefined {
  const states = isFields(answer) ? Object.entries(answer) : [];
  if (states.length === 0 || !states.every(([key, value]) => key.includes('_|-') && isFields(value))) return undefined;
  const failed = states.filter(([, state]) => fieldsOf(state)['result'] === false).map(([key]) => key.split('_|-')[1]);
  const counts = t('job.states', { ok: states.length - failed.length, n: states.length });
  return failed.length === 0 ? counts : `${counts} · ✕ ${failed.slice(0, 5).join(', ')}`;
}
