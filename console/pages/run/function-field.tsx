// The name of a function, completed from what the caller may run.
import { useEffect, useId, useState } from 'preact/hooks';
import { type FunctionFacts, functions } from '../../api/functions.ts';
import { useLoad } from '../../state/load.ts';
import { t } from '../../text/text.ts';

export interface FunctionFieldProps {
  readonly value: string;
  readonly onChange: (name: string) => void;
  readonly facts: FunctionFacts | undefined;
}

const typingPause = 150;

export function FunctionField({ value, onChange, facts }: FunctionFieldProps) {
  const id = useId();
  const [asked, setAsked] = useState(value);
  const [open, setOpen] = useState(false);
  const [at, setAt] = useState(-1);
  useEffect(() => {
    const timer = setTimeout(() => setAsked(value), typingPause);
    return () => clearTimeout(timer);
  }, [value]);
  const found = useLoad((stop) => functions(asked, stop), [asked]);
  const list = (found.value.value ?? []).slice(0, 12);
  const shown = open && list.length > 0 && !(list.length === 1 && list[0]?.name === value);
  const choose = (name: string): void => {
    onChange(name);
    setOpen(false);
    setAt(-1);
  };
  const onKey = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') setOpen(false);
    else if (event.key === 'ArrowDown') {
      setOpen(true);
      setAt(Math.min(at + 1, list.length - 1));
    } else if (event.key === 'ArrowUp') setAt(Math.max(at - 1, -1));
    else if (event.key === 'Enter' && shown && list[at]) choose(list[at].name);
    else return;
    event.preventDefault();
  };
  return (
    <div class="combo">
      <label for={id}>{t('run.function')}</label>
      <input
        id={id}
        name="fun"
        class="mono"
        role="combobox"
        aria-expanded={shown}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        {...(shown && at >= 0 ? { 'aria-activedescendant': `${id}-${at}` } : {})}
        value={value}
        placeholder="state.apply"
        spellcheck={false}
        autocapitalize="none"
        onInput={(event) => {
          onChange(event.currentTarget.value.trim());
          setOpen(true);
          setAt(-1);
        }}
        onBlur={() => setOpen(false)}
        onKeyDown={onKey}
      />
      <div id={`${id}-list`} role="listbox" aria-label={t('run.function')} class="combo-list" hidden={!shown}>
        {list.map((each, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field hears the keys
          <div
            key={each.name}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === at}
            class={each.allowed ? '' : 'refused'}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => choose(each.name)}
          >
            <code>{each.name}</code>
            <span class="faint">{each.allowed ? firstLine(each.doc) : t('run.notAllowed')}</span>
          </div>
        ))}
      </div>
      {facts && facts.doc !== '' && (
        <details class="doc">
          <summary>{firstLine(facts.doc)}</summary>
          <pre>{facts.doc}</pre>
        </details>
      )}
    </div>
  );
}

const firstLine = (text: string): string => text.trim().split('\n')[0] ?? '';
