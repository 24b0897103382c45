// Cron patterns, loaded only when a job uses one.
import { HaliteError } from '../../base/errors/index.ts';

type NextMatch = (pattern: string, after: Date) => Date | undefined;

/** Salt's parser has seconds as a sixth field at the end; the library expects them first. */
function reordered(pattern: string): string {
  const fields = pattern.trim().split(/\s+/);
  return fields.length === 6 ? [fields[5], ...fields.slice(0, 5)].join(' ') : fields.join(' ');
}

/** Patterns change rarely and are evaluated every second. */
const keptPatterns = 200;

export async function loadCron(): Promise<NextMatch> {
  const { Cron } = await import('croner');
  const known = new Map<string, InstanceType<typeof Cron>>();
  return (pattern, after) => {
    let cron = known.get(pattern);
    if (!cron) {
      cron = new Cron(reordered(pattern), { paused: true });
      if (known.size >= keptPatterns) known.clear();
      known.set(pattern, cron);
    }
    return cron.nextRun(after) ?? undefined;
  };
}

/** Until the library is loaded no pattern can be parsed. */
export const noCron: NextMatch = () => {
  throw new HaliteError('call.failed', 'Cron patterns are not available');
};
