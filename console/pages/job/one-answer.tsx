// The answer of one minion: live while it runs, whole afterwards.
import { useEffect, useRef, useState } from 'preact/hooks';
import { wholeAnswer } from '../../api/jobs.ts';
import { answerText } from '../../kit/answer-text.ts';
import { Button, Card, Copy } from '../../kit/basics.tsx';
import { attempt } from '../../kit/dialog.tsx';
import { Output } from '../../kit/output.tsx';
import { isVerdictCode, VerdictBadge } from '../../kit/verdicts.tsx';
import { hashOf } from '../../state/router.ts';
import { t } from '../../text/text.ts';
import type { JobModel } from './model.ts';

/** Longer answers are cut at first: a browser needs long for megabytes of text. */
const longestShown = 200_000;

export interface OneAnswerProps {
  readonly model: JobModel;
  readonly id: string;
  readonly onClose: () => void;
}

export function OneAnswer({ model, id, onClose }: OneAnswerProps) {
  const [text, setText] = useState<string | undefined>(undefined);
  const [whole, setWhole] = useState(false);
  const [follow, setFollow] = useState(true);
  const box = useRef<HTMLDivElement>(null);
  const index = model.detail.value?.ids.indexOf(id) ?? -1;
  // Read here, so that this part changes with the verdicts.
  const code = model.version.value >= 0 ? model.codeAt(index) : 'w';
  const open = 'wrq'.includes(code);
  const live = model.output.value;
  const load = async (): Promise<void> => {
    const { answer, reason } = await wholeAnswer(model.jid, id);
    setText(reason !== '' ? reason : answerText(id, answer));
  };
  useEffect(() => {
    if (!open) void attempt(load);
  }, [id, open]);
  useEffect(() => box.current?.scrollIntoView({ block: 'nearest' }), []);
  useEffect(() => {
    const output = box.current?.querySelector('.output');
    if (follow && open && output) output.scrollTop = output.scrollHeight;
  }, [live]);
  const shown = open ? live : (text ?? '');
  const cut = !whole && shown.length > longestShown;
  return (
    <div ref={box}>
      <Card
        class="one-answer"
        title={id}
        actions={
          <>
            {isVerdictCode(code) && <VerdictBadge code={code} />}
            <a class="button quiet" href={hashOf(['minion', id])}>
              {t('job.toMinion')}
            </a>
            {open && (
              <Button kind="quiet" pressed={follow} onClick={() => setFollow(!follow)}>
                {t('job.follow')}
              </Button>
            )}
            <Copy text={shown} />
            <Button icon="close" kind="quiet" title={t('action.close')} onClick={onClose} />
          </>
        }
      >
        {shown === '' ? (
          <p class="faint">{open ? t('job.noOutput') : t('state.loading')}</p>
        ) : (
          <Output text={cut ? shown.slice(0, longestShown) : shown} label={t('job.answerOf', { id })} />
        )}
        {cut && (
          <Button onClick={() => setWhole(true)}>{t('job.showAll', { n: Math.ceil(shown.length / 1024) })}</Button>
        )}
      </Card>
    </div>
  );
}
