// Small parts that every page uses.
import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Problem } from '../api/http.ts';
import type { Loaded } from '../state/load.ts';
import { agoText, t, timeText, utcText } from '../text/text.ts';
import { Icon, type IconName } from './icons.tsx';

export interface CardProps {
  readonly title?: string;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
  readonly class?: string;
}

export function Card({ title, actions, children, class: more = '' }: CardProps) {
  return (
    <section class={`card ${more}`}>
      {(title || actions) && (
        <header class="card-head">
          {title && <h2>{title}</h2>}
          <div class="card-actions">{actions}</div>
        </header>
      )}
      {children}
    </section>
  );
}

export interface ButtonProps {
  readonly children?: ComponentChildren;
  readonly icon?: IconName;
  readonly onClick?: () => void;
  readonly kind?: 'main' | 'danger' | 'quiet';
  readonly disabled?: boolean;
  readonly title?: string;
  readonly type?: 'button' | 'submit';
  readonly pressed?: boolean;
}

export function Button({ children, icon, onClick, kind, disabled, title, type = 'button', pressed }: ButtonProps) {
  const named = children === undefined && title !== undefined ? { 'aria-label': title } : {};
  const state = pressed === undefined ? {} : { 'aria-pressed': pressed };
  return (
    <button class={`button ${kind ?? ''}`} {...{ type, title, disabled, onClick }} {...named} {...state}>
      {icon && <Icon name={icon} />}
      {children !== undefined && <span>{children}</span>}
    </button>
  );
}

/** The time of this minute, for "3 minutes ago". */
export const now = signal(Date.now() / 1000);
setInterval(() => {
  now.value = Date.now() / 1000;
}, 20_000);

/** Relative, with the full time in the tooltip. */
export function Ago({ at }: { readonly at: number | undefined }) {
  if (at === undefined) return <span class="faint">–</span>;
  return (
    <time dateTime={new Date(at * 1000).toISOString()} title={`${timeText(at)} · ${utcText(at)}`}>
      {agoText(at, Math.max(now.value, at))}
    </time>
  );
}

export function Time({ at }: { readonly at: number | undefined }) {
  if (at === undefined) return <span class="faint">–</span>;
  return (
    <time dateTime={new Date(at * 1000).toISOString()} title={utcText(at)}>
      {timeText(at)}
    </time>
  );
}

export function Badge({ tone, children, title }: { tone: string; children: ComponentChildren; title?: string }) {
  return (
    <span class={`badge ${tone}`} title={title}>
      {children}
    </span>
  );
}

/** What an operator reads when there is nothing to show, and what to do about it. */
export function Empty({ text, children }: { readonly text: string; readonly children?: ComponentChildren }) {
  return (
    <div class="empty">
      <Icon name="empty" />
      <p>{text}</p>
      {children}
    </div>
  );
}

export function Trouble({ problem, again }: { readonly problem: Problem; readonly again?: () => void }) {
  const text = problem.message === 'no-answer' ? t('problem.noAnswer') : problem.message;
  return (
    <div class="trouble" role="alert">
      <Icon name="warning" />
      <div>
        <strong>{problem.status === 403 ? t('problem.noRight') : t('problem.title')}</strong>
        <p>{text}</p>
        {problem.hint !== '' && <p class="faint">{problem.hint}</p>}
      </div>
      {again && <Button onClick={again}>{t('action.again')}</Button>}
    </div>
  );
}

/** The problem, the waiting sign or the content of something that is loaded. */
export function Shown<T>({
  of,
  children,
}: {
  readonly of: Loaded<T>;
  readonly children: (value: T) => ComponentChildren;
}) {
  const problem = of.problem.value;
  const value = of.value.value;
  return (
    <>
      {problem && <Trouble problem={problem} again={of.reload} />}
      {value === undefined ? !problem && <Waiting /> : children(value)}
    </>
  );
}

export function Waiting() {
  return (
    <div class="waiting" role="status">
      <span class="spinner" aria-hidden="true" />
      {t('state.loading')}
    </div>
  );
}

export function Copy({ text, label }: { readonly text: string; readonly label?: string }) {
  const [done, setDone] = useState(false);
  const copy = async (): Promise<void> => {
    await copyText(text);
    setDone(true);
    setTimeout(() => setDone(false), 1500);
  };
  return (
    <Button icon={done ? 'check' : 'copy'} kind="quiet" title={t('action.copy')} onClick={() => void copy()}>
      {label}
    </Button>
  );
}

/** Without TLS browsers give no access to the clipboard; a selected text still works there. */
async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return await navigator.clipboard.writeText(text);
  const area = document.createElement('textarea');
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand('copy');
  area.remove();
}

/** A command as it would be typed in a terminal. */
export function CommandLine({ text }: { readonly text: string }) {
  return (
    <div class="command-line">
      <code>{text}</code>
      <Copy text={text} />
    </div>
  );
}

export function saveFile(name: string, text: string, type = 'text/plain'): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
