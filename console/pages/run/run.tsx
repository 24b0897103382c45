// A new job: which minions, which function, which arguments. Nothing is hidden: the same line for a terminal is shown.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type FunctionFacts, functions } from '../../api/functions.ts';
import { publish } from '../../api/jobs.ts';
import { Button, Card, CommandLine } from '../../kit/basics.tsx';
import { attempt, confirm } from '../../kit/dialog.tsx';
import { useLoad } from '../../state/load.ts';
import { go, place } from '../../state/router.ts';
import { confirmAbove } from '../../state/settings.ts';
import { t } from '../../text/text.ts';
import { Arguments } from './arguments.tsx';
import { FunctionField } from './function-field.tsx';
import { commandLine, type JobForm, publishOf, secondsOf, splitWords, targetTypes } from './request.ts';
import { TargetPanel, useTarget } from './target.tsx';

const onceKey = (): string =>
  `console-${Date.now()}-${Array.from(crypto.getRandomValues(new Uint32Array(3)), (n) => n.toString(36)).join('')}`;

function startForm(): JobForm {
  const query = place.peek().query;
  const type = targetTypes.find((name) => name === query.get('type')) ?? 'glob';
  return {
    ...{ tgt: query.get('tgt') ?? '*', type, fun: query.get('fun') ?? '', words: splitWords(query.get('arg') ?? '') },
    ...{ batch: '', deadline: '', durable: '', require: '' },
  };
}

export function Run() {
  const [form, setForm] = useState(startForm);
  const [busy, setBusy] = useState(false);
  const set = (changes: Partial<JobForm>): void => setForm((before) => ({ ...before, ...changes }));
  const target = useTarget(form.tgt, form.type);
  const facts = useFunction(form.fun);
  /** One key for one content: a second click on the same form is the same job. */
  const once = useRef({ form, key: onceKey() });
  if (once.current.form !== form) once.current = { form, key: onceKey() };
  const wrong = problemOf(form);

  const start = async (): Promise<void> => {
    if (busy || wrong !== undefined) return;
    const total = target.preview?.total ?? 0;
    const line = commandLine(form);
    if (
      total >= confirmAbove.value &&
      !(await confirm(t('run.confirm', { n: total }), line, t('run.start'), total > confirmAbove.value))
    )
      return;
    setBusy(true);
    const { key } = once.current;
    await attempt(async () => {
      const { jid } = await publish(publishOf(form), key);
      go(['job', jid]);
    });
    once.current = { form, key: onceKey() };
    setBusy(false);
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    void start();
  };

  return (
    <>
      <div class="page-head">
        <h1>{t('nav.run')}</h1>
      </div>
      <form class="run" onSubmit={submit} autocomplete="off">
        <TargetPanel form={form} set={set} target={target} />
        <Card title={t('run.what')}>
          <FunctionField value={form.fun} onChange={(fun) => set({ fun })} facts={facts} />
          <Arguments key={facts?.name ?? ''} facts={facts} words={form.words} onChange={(words) => set({ words })} />
          <Options form={form} set={set} />
        </Card>
        <Card class="run-line">
          <CommandLine text={commandLine(form)} />
          <div class="run-start">
            {wrong !== undefined && form.fun !== '' && <p class="form-trouble">{wrong}</p>}
            <Button kind="main" icon="run" type="submit" disabled={busy || wrong !== undefined}>
              {target.preview ? t('run.startOn', { n: target.preview.total }) : t('run.start')}
            </Button>
          </div>
        </Card>
      </form>
    </>
  );
}

function problemOf({ tgt, fun, deadline, durable }: JobForm): string | undefined {
  if (tgt.trim() === '') return t('run.noTarget');
  if (!/^\w+(\.\w+)+$/.test(fun)) return t('run.noFunction');
  const times = [deadline, durable].filter((text) => text !== '');
  return times.some((text) => secondsOf(text) === undefined) ? t('run.noTime') : undefined;
}

/** What is known about the function that is typed in. */
function useFunction(name: string): FunctionFacts | undefined {
  const complete = /^\w+(\.\w+)+$/.test(name);
  const found = useLoad(async (stop) => (complete ? await functions(name, stop) : []), [complete ? name : '']);
  const list = found.value.value;
  return useMemo(() => list?.find((each) => each.name === name), [list, name]);
}

function Options({ form, set }: { readonly form: JobForm; readonly set: (changes: Partial<JobForm>) => void }) {
  const [open, setOpen] = useState(false);
  useEffect(() => {
    if (form.batch || form.deadline || form.durable || form.require) setOpen(true);
  }, []);
  const fields = [
    { name: 'batch', hint: '10, 25%' },
    { name: 'deadline', hint: '10m' },
    { name: 'durable', hint: '24h' },
    { name: 'require', hint: '95%' },
  ] as const;
  return (
    <details class="more" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{t('run.options')}</summary>
      <div class="fields">
        {fields.map(({ name, hint }) => (
          <label key={name}>
            <span>{t(`run.${name}`)}</span>
            <input
              value={form[name]}
              placeholder={hint}
              onInput={(event) => set({ [name]: event.currentTarget.value.trim() })}
            />
            <small>{t(`run.${name}Hint`)}</small>
          </label>
        ))}
      </div>
    </details>
  );
}
