// Runners of the master, orchestrations among them: found, filled in, run.
import { useState } from 'preact/hooks';
import { callMaster, type FunctionFacts, runners } from '../api/functions.ts';
import { Button, Card, CommandLine, Empty, Shown } from '../kit/basics.tsx';
import { attempt } from '../kit/dialog.tsx';
import { Output } from '../kit/output.tsx';
import { Tree } from '../kit/tree.tsx';
import { useLoad } from '../state/load.ts';
import { place, setQuery } from '../state/router.ts';
import { t } from '../text/text.ts';
import { Arguments } from './run/arguments.tsx';
import { argumentsOf, shellWord } from './run/request.ts';

export function Runners() {
  const found = useLoad(runners, []);
  const query = place.value.query;
  const [asked, setAsked] = useState('');
  const chosen = query.get('fun') ?? '';
  return (
    <>
      <div class="page-head">
        <h1>{t('nav.runners')}</h1>
      </div>
      <Shown of={found}>
        {(list) => {
          const one = list.find(({ name }) => name === chosen);
          const words = asked.toLowerCase();
          const shown = list.filter(
            ({ name, doc }) => words === '' || name.includes(words) || doc.toLowerCase().includes(words),
          );
          return (
            <div class="two-panes">
              <Card class="flush list-pane">
                <div class="search-row in-card">
                  <input
                    type="search"
                    value={asked}
                    placeholder={t('runners.search')}
                    aria-label={t('runners.search')}
                    onInput={(event) => setAsked(event.currentTarget.value)}
                  />
                </div>
                <ul class="pick-list">
                  {shown.map(({ name, doc, allowed }) => (
                    <li key={name}>
                      <button
                        type="button"
                        aria-pressed={chosen === name}
                        class={allowed ? '' : 'refused'}
                        onClick={() => setQuery({ fun: name })}
                      >
                        <code>{name}</code>
                        <span class="faint">{allowed ? (doc.trim().split('\n')[0] ?? '') : t('run.notAllowed')}</span>
                      </button>
                    </li>
                  ))}
                </ul>
              </Card>
              {one ? <OneRunner key={one.name} facts={one} /> : <Empty text={t('runners.choose')} />}
            </div>
          );
        }}
      </Shown>
    </>
  );
}

/** Documentation is indented as it stands in a source. */
function outdented(text: string): string {
  const lines = text.replace(/^\s*\n|\s+$/g, '').split('\n');
  const margins = lines
    .slice(1)
    .filter((line) => line.trim() !== '')
    .map((line) => line.search(/\S/));
  const margin = Math.min(...margins, lines[0]?.search(/\S/) || Number.POSITIVE_INFINITY);
  return lines
    .map((line) => line.slice(Math.min(line.search(/\S|$/), Number.isFinite(margin) ? margin : 0)))
    .join('\n');
}

function OneRunner({ facts }: { readonly facts: FunctionFacts }) {
  const [words, setWords] = useState<readonly string[]>([]);
  const [busy, setBusy] = useState(false);
  const [answer, setAnswer] = useState<{ readonly value: unknown; readonly success: boolean } | undefined>(undefined);
  const run = async (event: Event): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setAnswer(undefined);
    const { arg, kwarg } = argumentsOf(words);
    await attempt(async () => setAnswer(await callMaster('runners', facts.name, arg, kwarg)));
    setBusy(false);
  };
  return (
    <div>
      <Card title={facts.name}>
        {facts.doc !== '' && <pre class="doc-text">{outdented(facts.doc)}</pre>}
        <form onSubmit={(event) => void run(event)}>
          <Arguments facts={facts} words={words} onChange={setWords} />
          <CommandLine text={['salt-run', facts.name, ...words.map(shellWord)].join(' ')} />
          <Button kind="main" icon="run" type="submit" disabled={busy || !facts.allowed}>
            {busy ? t('runners.busy') : t('run.start')}
          </Button>
        </form>
      </Card>
      {answer && (
        <Card title={answer.success ? t('runners.answer') : t('runners.failed')}>
          {typeof answer.value === 'string' ? (
            <Output text={answer.value} label={t('runners.answer')} />
          ) : (
            <Tree value={answer.value} label={t('runners.answer')} empty={t('minion.nothing')} />
          )}
        </Card>
      )}
    </div>
  );
}
