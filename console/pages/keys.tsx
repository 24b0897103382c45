// Keys of minions. A key is accepted with the fingerprint that was shown, so a key that was replaced meanwhile is not.
import { useMemo, useState } from 'preact/hooks';
import {
  changeKeys,
  type Key,
  type KeyAction,
  type KeyState,
  keyRow,
  keyStates,
  keys,
  sameFingerprint,
} from '../api/keys.ts';
import { Badge, Button, Card, Empty, Trouble } from '../kit/basics.tsx';
import { attempt, confirm, note } from '../kit/dialog.tsx';
import { useRowWindow } from '../kit/row-window.ts';
import { useSummary } from '../kit/summary.ts';
import { type Column, VirtualTable } from '../kit/virtual-table.tsx';
import { useLive } from '../live/link.ts';
import { useCalm } from '../state/load.ts';
import { place, setQuery } from '../state/router.ts';
import { count, t, word } from '../text/text.ts';

type Chosen = ReadonlyMap<string, Key>;

export function Keys() {
  const query = place.value.query;
  const state: KeyState = keyStates.find((name) => name === query.get('state')) ?? 'pending';
  const q = query.get('q') ?? '';
  const [compare, setCompare] = useState('');
  const [chosen, setChosen] = useState<Chosen>(new Map());
  const rows = useRowWindow((offset, limit, stop) => keys({ state, q, offset, limit }, stop), keyRow, [state, q]);
  const again = useCalm(rows.reload, 500);
  useLive('keys', again);
  const total = rows.total.value;

  const act = async (action: KeyAction, list: readonly Key[]): Promise<void> => {
    // Also where the table has no room for fingerprints, and for many keys at once.
    const shown = list.slice(0, 20);
    const text =
      action === 'accept' || list.length === 1
        ? shown.map(({ id, fingerprint }) => `${id}\n${fingerprint}`).join('\n')
        : shown.map(({ id }) => id).join(', ');
    if (!(await confirm(t(`keys.${action}Ask`, { n: list.length }), text, t(`keys.${action}`), action === 'delete')))
      return;
    await attempt(async () => {
      const { done, refused } = await changeKeys(action, list);
      if (done > 0) note(t(`keys.${action}Done`, { n: done }));
      for (const why of refused.slice(0, 3)) note(why, true);
    });
    setChosen(new Map());
    rows.reload();
  };
  const toggle = (key: Key): void => {
    const next = new Map(chosen);
    if (!next.delete(key.id)) next.set(key.id, key);
    setChosen(next);
  };
  const columns = useMemo(
    () => columnsFor(compare, chosen, toggle, (action, key) => void act(action, [key])),
    [compare, chosen, state, rows.changes.value],
  );
  return (
    <>
      <div class="page-head">
        <h1>{t('nav.keys')}</h1>
      </div>
      <States state={state} onChoose={() => setChosen(new Map())} />
      <div class="search-row">
        <input
          type="search"
          value={q}
          placeholder={t('keys.search')}
          aria-label={t('keys.search')}
          onInput={(event) => setQuery({ q: event.currentTarget.value })}
        />
        <input
          class="mono grow"
          name="compare"
          value={compare}
          placeholder={t('keys.compare')}
          aria-label={t('keys.compare')}
          spellcheck={false}
          onInput={(event) => setCompare(event.currentTarget.value)}
        />
      </div>
      <p class="faint hint">
        {t('keys.hint')} <code>salt-call --local key.finger</code>
      </p>
      {chosen.size > 0 && <Bulk chosen={[...chosen.values()]} state={state} act={act} />}
      {rows.problem.value && <Trouble problem={rows.problem.value} again={rows.reload} />}
      <Card class="flush">
        {total === 0 ? (
          <Empty text={t('keys.none')} />
        ) : (
          <VirtualTable
            label={word('key', state)}
            total={total ?? 0}
            columns={columns}
            rowAt={rows.rowAt}
            onWindow={rows.show}
            onSelect={toggle}
            isSelected={(key) => chosen.has(key.id)}
            rows={14}
          />
        )}
      </Card>
    </>
  );
}

function States({ state, onChoose }: { readonly state: KeyState; readonly onChoose: () => void }) {
  const summary = useSummary();
  const counts = summary.value.value?.keys ?? {};
  return (
    <div class="facets">
      {keyStates.map((name) => (
        <button
          key={name}
          type="button"
          class="chip"
          aria-pressed={state === name}
          onClick={() => {
            onChoose();
            setQuery({ state: name });
          }}
        >
          {word('key', name)} <strong>{count(counts[name] ?? 0)}</strong>
        </button>
      ))}
    </div>
  );
}

interface BulkProps {
  readonly chosen: readonly Key[];
  readonly state: KeyState;
  readonly act: (action: KeyAction, list: readonly Key[]) => Promise<void>;
}

function Bulk({ chosen, state, act }: BulkProps) {
  return (
    <p class="chosen" role="status">
      {t('minions.chosen', { n: chosen.length })}
      {state !== 'accepted' && (
        <Button kind="main" icon="check" onClick={() => void act('accept', chosen)}>
          {t('keys.accept')}
        </Button>
      )}
      {state !== 'rejected' && <Button onClick={() => void act('reject', chosen)}>{t('keys.reject')}</Button>}
      <Button kind="danger" onClick={() => void act('delete', chosen)}>
        {t('keys.delete')}
      </Button>
    </p>
  );
}

function columnsFor(
  compare: string,
  chosen: Chosen,
  toggle: (key: Key) => void,
  act: (action: KeyAction, key: Key) => void,
): readonly Column<Key>[] {
  return [
    {
      ...{ name: 'select', label: '', width: '36px' },
      render: (key) => (
        <input
          type="checkbox"
          tabIndex={-1}
          aria-label={t('minions.select', { id: key.id })}
          checked={chosen.has(key.id)}
          onChange={() => toggle(key)}
        />
      ),
    },
    {
      ...{ name: 'id', label: t('minions.id'), width: 'minmax(110px, 1fr)' },
      render: (key) => <span class="id">{key.id}</span>,
    },
    {
      ...{ name: 'fingerprint', label: t('keys.fingerprint'), width: 'minmax(150px, 3fr)', wide: true },
      render: (key) => <Fingerprint of={key} compare={compare} />,
    },
    {
      ...{ name: 'actions', label: t('keys.actions'), width: '190px' },
      render: (key) => (
        <span class="cell-actions">
          {key.state !== 'accepted' && (
            <Button kind="main" onClick={() => act('accept', key)}>
              {t('keys.accept')}
            </Button>
          )}
          {key.state === 'pending' && <Button onClick={() => act('reject', key)}>{t('keys.reject')}</Button>}
          {key.state !== 'pending' && <Button onClick={() => act('delete', key)}>{t('keys.delete')}</Button>}
        </span>
      ),
    },
  ];
}

function Fingerprint({ of, compare }: { readonly of: Key; readonly compare: string }) {
  if (of.fingerprint === '') return <span class="faint">{t('keys.unseen')}</span>;
  const verdict = compare.trim() === '' ? undefined : sameFingerprint(of.fingerprint, compare);
  return (
    <span class="fingerprint">
      {verdict === true && <Badge tone="good">✓ {t('keys.same')}</Badge>}
      {verdict === false && <Badge tone="plain">{t('keys.different')}</Badge>}
      <code title={of.fingerprint}>{of.fingerprint}</code>
      {of.other !== '' && (
        <code class="faint" title={of.other}>
          {t('keys.accepted')}: {of.other}
        </code>
      )}
    </span>
  );
}
