// What can be done with a job: run it again on some of its minions, stop it, take its answers along.
import { type Again, type JobDetail, runAgain, type StopHow, stopJob } from '../../api/jobs.ts';
import { Button } from '../../kit/basics.tsx';
import { attempt, confirm } from '../../kit/dialog.tsx';
import { Menu } from '../../kit/menu.tsx';
import { noCounts, openOf, totalOf } from '../../kit/verdicts.tsx';
import { go, place } from '../../state/router.ts';
import { confirmAbove } from '../../state/settings.ts';
import { t } from '../../text/text.ts';
import { exportAnswers, exportFormats, exportNames } from './exports.ts';
import type { JobModel } from './model.ts';

export interface ActionsProps {
  readonly detail: JobDetail;
  readonly model: JobModel;
}

export function Actions({ detail, model }: ActionsProps) {
  // Read here, so that only this part changes with the verdicts.
  const counts = model.version.value >= 0 ? model.counts : noCounts();
  const ended = model.ended.value;
  const { jid } = detail.row;
  const sizes: Readonly<Record<Again, number>> = {
    failed: counts.f + counts.d,
    missing: counts.m + counts.x,
    unfinished: openOf(counts) + counts.m + counts.d + counts.x,
    all: totalOf(counts),
  };
  const again = async (on: Again): Promise<void> => {
    const n = sizes[on];
    const yes = n < confirmAbove.value || (await confirm(t('run.confirm', { n }), detail.command, t('run.start')));
    if (yes) await attempt(async () => go(['job', await runAgain(jid, on)]));
  };
  const stop = async (how: StopHow): Promise<void> => {
    if (await confirm(t(`stop.${how}`), t(`stop.${how}Text`), t(`stop.${how}`), how === 'kill'))
      await attempt(() => stopJob(jid, how), t('stop.sent'));
  };
  const verdict = place.value.query.get('verdict') ?? undefined;
  const filter = verdict === undefined ? {} : { verdict };
  const choices = (['failed', 'missing', 'unfinished', 'all'] as const).filter((on) => sizes[on] > 0);
  const first = choices[0];
  return (
    <div class="actions">
      {first && (
        <Button kind={first === 'all' ? 'quiet' : 'main'} icon="again" onClick={() => void again(first)}>
          {t(`again.${first}`, { n: sizes[first] })}
        </Button>
      )}
      {choices.length > 1 && (
        <Menu
          label={t('again.menu')}
          icon="again"
          items={choices
            .slice(1)
            .map((on) => ({ label: t(`again.${on}`, { n: sizes[on] }), run: () => void again(on) }))}
        />
      )}
      {(!ended || openOf(counts) > 0) && (
        <Menu
          label={t('stop.menu')}
          icon="stop"
          items={(['term', 'kill', 'cancel-pending', 'forget'] as const).map((how) => ({
            label: t(`stop.${how}`),
            run: () => void stop(how),
          }))}
        />
      )}
      <Menu
        label={t('action.export')}
        icon="export"
        items={[
          ...exportFormats.map((format) => ({
            label: format.toUpperCase(),
            run: () => void attempt(() => exportAnswers(jid, format, filter)),
          })),
          { label: t('job.names'), run: () => void attempt(() => exportNames(jid, filter)) },
        ]}
      />
    </div>
  );
}
