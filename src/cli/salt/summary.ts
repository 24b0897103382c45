// --summary: counts at the end of a job.
import type { Tally } from './tally.ts';

const ruler = '-------------------------------------------';

export function summaryText(tally: Tally, verbose: boolean): string {
  const lines = [
    '',
    '',
    ruler,
    'Summary',
    ruler,
    `# of minions targeted: ${tally.returned.length + tally.missing + tally.queued.length}`,
    `# of minions returned: ${tally.returned.length}`,
    `# of minions that did not return: ${tally.missing}`,
    `# of minions with errors: ${tally.failed.length}`,
  ];
  if (tally.late.length > 0) lines.push(`# of minions ended at the deadline: ${tally.late.length}`);
  if (tally.queued.length > 0) lines.push(`# of minions the job waits for: ${tally.queued.length}`);
  const named = (title: string, ids: readonly string[]): void => {
    if (ids.length > 0) lines.push(`${title}: ${ids.join(' ')}`);
  };
  if (verbose) {
    named('Minions not connected', tally.notConnected);
    named('Minions not responding', tally.silent);
    named('Minions with failures', tally.failed);
    named('Minions ended at the deadline', tally.late);
    named('Minions the job waits for', tally.queued);
  }
  return `${[...lines, ruler].join('\n')}\n`;
}
