// Arguments: as a form with one field for each parameter, or as they are typed in a terminal.
import { useState } from 'preact/hooks';
import type { FunctionFacts, Parameter } from '../../api/functions.ts';
import { Button } from '../../kit/basics.tsx';
import { t } from '../../text/text.ts';
import { shellWord, splitWords } from './request.ts';

export interface ArgumentsProps {
  readonly facts: FunctionFacts | undefined;
  readonly words: readonly string[];
  readonly onChange: (words: readonly string[]) => void;
}

/** Parameters that take what is left cannot be a field. */
const isPlain = ({ name }: Parameter): boolean => !name.startsWith('*');

export function Arguments({ facts, words, onChange }: ArgumentsProps) {
  const parameters = (facts?.parameters ?? []).filter(isPlain);
  const [asText, setAsText] = useState(words.length > 0);
  const [text, setText] = useState(() => words.map(shellWord).join(' '));
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  if (!facts || parameters.length === 0 || asText)
    return (
      <div class="arguments">
        <label>
          <span>{t('run.arguments')}</span>
          <input
            name="arg"
            class="mono"
            value={text}
            placeholder={parameters.map(({ name, required }) => (required ? name : `[${name}=]`)).join(' ')}
            spellcheck={false}
            autocapitalize="none"
            onInput={(event) => {
              setText(event.currentTarget.value);
              onChange(splitWords(event.currentTarget.value));
            }}
          />
        </label>
        {parameters.length > 0 && (
          <Button kind="quiet" onClick={() => setAsText(false)}>
            {t('run.asForm')}
          </Button>
        )}
      </div>
    );
  const set = (name: string, value: string): void => {
    const next = { ...values, [name]: value };
    setValues(next);
    onChange(
      parameters.filter((each) => (next[each.name] ?? '') !== '').map((each) => `${each.name}=${next[each.name]}`),
    );
  };
  return (
    <div class="arguments">
      <div class="fields">
        {parameters.map((each) => (
          <label key={each.name}>
            <span>
              {each.name}
              {each.required && <em title={t('run.required')}> *</em>}
            </span>
            <input
              class="mono"
              value={values[each.name] ?? ''}
              placeholder={each.fallback}
              spellcheck={false}
              onInput={(event) => set(each.name, event.currentTarget.value)}
            />
          </label>
        ))}
      </div>
      <Button
        kind="quiet"
        onClick={() => {
          setText(words.map(shellWord).join(' '));
          setAsText(true);
        }}
      >
        {t('run.asText')}
      </Button>
    </div>
  );
}
