// Which minions a job would go to, shown before it starts: the connected ones, and those that would give no result.
import { useEffect, useState } from 'preact/hooks';
import { previewTarget, type TargetPreview } from '../../api/fleet.ts';
import { Problem } from '../../api/http.ts';
import { Button, Card } from '../../kit/basics.tsx';
import { count, t, word } from '../../text/text.ts';
import { type JobForm, type TargetType, targetTypes } from './request.ts';

export interface Target {
  readonly preview: TargetPreview | undefined;
  readonly problem: string;
}

const typingPause = 250;

export function useTarget(tgt: string, type: TargetType): Target {
  const [target, setTarget] = useState<Target>({ preview: undefined, problem: '' });
  useEffect(() => {
    const abort = new AbortController();
    const look = async (): Promise<void> => {
      if (tgt.trim() === '') return setTarget({ preview: undefined, problem: '' });
      try {
        const preview = await previewTarget(tgt, type, abort.signal);
        if (!abort.signal.aborted) setTarget({ preview, problem: '' });
      } catch (error) {
        if (abort.signal.aborted) return;
        const known = error instanceof Problem && error.message !== 'no-answer';
        setTarget({
          preview: undefined,
          problem: known ? [error.message, error.hint].filter(Boolean).join(' · ') : t('problem.noAnswer'),
        });
      }
    };
    const timer = setTimeout(() => void look(), typingPause);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [tgt, type]);
  return target;
}

const examples: Readonly<Record<TargetType, string>> = {
  glob: 'web*',
  list: 'web1,web2',
  grain: 'os:Debian',
  compound: 'G@role:web and not web9',
  pcre: 'web[0-9]+',
  nodegroup: 'webs',
  ipcidr: '10.0.0.0/8',
  pillar: 'role:web',
};

export interface TargetPanelProps {
  readonly form: JobForm;
  readonly set: (changes: Partial<JobForm>) => void;
  readonly target: Target;
}

export function TargetPanel({ form, set, target }: TargetPanelProps) {
  const connected = target.preview?.classes['connected'];
  const total = target.preview?.total ?? 0;
  return (
    <Card title={t('run.where')}>
      <div class="target-row">
        <select
          value={form.type}
          aria-label={t('run.type')}
          onChange={(event) => set({ type: targetTypes.find((type) => type === event.currentTarget.value) ?? 'glob' })}
        >
          {targetTypes.map((type) => (
            <option key={type} value={type}>
              {word('target', type)}
            </option>
          ))}
        </select>
        <input
          name="tgt"
          class="mono"
          value={form.tgt}
          placeholder={examples[form.type]}
          aria-label={t('run.target')}
          spellcheck={false}
          autocapitalize="none"
          onInput={(event) => set({ tgt: event.currentTarget.value })}
        />
      </div>
      <div class="preview" aria-live="polite">
        {target.problem !== '' && <p class="form-trouble">{target.problem}</p>}
        {target.preview && <Preview preview={target.preview} />}
        {connected && connected.length > 0 && connected.length < total && (
          <Button kind="quiet" icon="filter" onClick={() => set({ tgt: connected.join(','), type: 'list' })}>
            {t('run.onlyConnected', { n: connected.length })}
          </Button>
        )}
      </div>
    </Card>
  );
}

const mostNames = 200;

function Preview({ preview }: { readonly preview: TargetPreview }) {
  const classes = Object.entries(preview.classes).filter(([, ids]) => ids.length > 0);
  if (classes.length === 0) return <p class="form-trouble">{preview.sentence || t('run.nobody')}</p>;
  return (
    <div class="classes">
      {classes.map(([name, ids]) => (
        <details key={name}>
          <summary>
            <span class={`dot s-${name}`} aria-hidden="true" />
            {word('state', name)} <strong>{count(ids.length)}</strong>
          </summary>
          <p class="names-line">
            {ids.slice(0, mostNames).join(', ')}
            {ids.length > mostNames && ` … +${count(ids.length - mostNames)}`}
          </p>
        </details>
      ))}
      {preview.sentence !== '' && <p class="faint">{preview.sentence}</p>}
    </div>
  );
}
