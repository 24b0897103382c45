// Questions before something happens, and short notes after it.
import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Problem } from '../api/http.ts';
import { t } from '../text/text.ts';
import { Button } from './basics.tsx';

export interface DialogProps {
  readonly title: string;
  readonly children: ComponentChildren;
  readonly onClose: () => void;
  readonly actions?: ComponentChildren;
}

/** A modal dialog of the browser: it keeps the focus, closes with Esc, and gives the focus back. */
export function Dialog({ title, children, onClose, actions }: DialogProps) {
  const box = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    box.current?.showModal();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog ref={box} class="dialog" aria-label={title} onClose={onClose}>
      <header>
        <h2>{title}</h2>
        <Button icon="close" kind="quiet" title={t('action.close')} onClick={onClose} />
      </header>
      <div class="dialog-body">{children}</div>
      {actions && <footer>{actions}</footer>}
    </dialog>
  );
}

interface Question {
  readonly title: string;
  readonly text: string;
  readonly yes: string;
  readonly danger: boolean;
  readonly answer: (yes: boolean) => void;
}

const question = signal<Question | undefined>(undefined);

export function confirm(title: string, text: string, yes: string, danger = false): Promise<boolean> {
  question.peek()?.answer(false);
  return new Promise((resolve) => {
    question.value = {
      ...{ title, text, yes, danger },
      answer: (given) => {
        question.value = undefined;
        resolve(given);
      },
    };
  });
}

interface Note {
  readonly id: number;
  readonly text: string;
  readonly bad: boolean;
}

const notes = signal<readonly Note[]>([]);
let lastNote = 0;

export function note(text: string, bad = false): void {
  lastNote += 1;
  const id = lastNote;
  notes.value = [...notes.value.slice(-3), { id, text, bad }];
  setTimeout(
    () => {
      notes.value = notes.value.filter((each) => each.id !== id);
    },
    bad ? 12_000 : 5_000,
  );
}

/** Runs what a button does; a refusal is shown, not thrown. */
export async function attempt(action: () => Promise<unknown>, done?: string): Promise<boolean> {
  try {
    await action();
    if (done) note(done);
    return true;
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    const hint = error instanceof Problem && error.hint !== '' ? ` · ${error.hint}` : '';
    note(`${text === 'no-answer' ? t('problem.noAnswer') : text}${hint}`, true);
    return false;
  }
}

export function Overlays() {
  const asked = question.value;
  return (
    <>
      {asked && (
        <Dialog
          title={asked.title}
          onClose={() => asked.answer(false)}
          actions={
            <>
              <Button onClick={() => asked.answer(false)}>{t('action.cancel')}</Button>
              <Button kind={asked.danger ? 'danger' : 'main'} onClick={() => asked.answer(true)}>
                {asked.yes}
              </Button>
            </>
          }
        >
          <p class="question">{asked.text}</p>
        </Dialog>
      )}
      <div class="notes" role="status" aria-live="polite">
        {notes.value.map(({ id, text, bad }) => (
          <div key={id} class={`note ${bad ? 'bad' : ''}`}>
            {text}
          </div>
        ))}
      </div>
    </>
  );
}
