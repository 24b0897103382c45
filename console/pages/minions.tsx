// All minions: searched, sorted and cut on the server, so that ten thousand of them are as quick as ten.
import { signal } from '@preact/signals';
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { fleet, fleetColumns, type MinionRow, minionRow } from '../api/fleet.ts';
import { Ago, Badge, Button, Card, Empty, saveFile, Trouble } from '../kit/basics.tsx';
import { attempt } from '../kit/dialog.tsx';
import { type RowWindow, useRowWindow } from '../kit/row-window.ts';
import { StateBadge } from '../kit/state-badge.tsx';
import { useSummary } from '../kit/summary.ts';
import { type Column, VirtualTable } from '../kit/virtual-table.tsx';
import { useLive } from '../live/link.ts';
import { useCalm } from '../state/load.ts';
import { go, hashOf, place, setQuery } from '../state/router.ts';
import { savedViews, saveViews } from '../state/settings.ts';
import { count, t, word } from '../text/text.ts';

/** Chosen minions; all that the query finds can be chosen at once. */
const chosen = signal<ReadonlySet<string>>(new Set());
const mostExported = 100_000;

const toggle = ({ id }: MinionRow): void => {
  const next = new Set(chosen.value);
  if (!next.delete(id)) next.add(id);
  chosen.value = next;
};

const columns = (): readonly Column<MinionRow>[] => [
  {
    ...{ name: 'select', label: '', width: '36px' },
    render: (row) => (
      <input
        type="checkbox"
        tabIndex={-1}
        aria-label={t('minions.select', { id: row.id })}
        checked={chosen.value.has(row.id)}
        onChange={() => toggle(row)}
      />
    ),
  },
  {
    ...{ name: 'id', label: t('minions.id'), width: 'minmax(130px, 2fr)', sortable: true },
    render: (row) => (
      <a class="id" tabIndex={-1} href={hashOf(['minion', row.id])}>
        {row.id}
      </a>
    ),
  },
  {
    ...{ name: 'state', label: t('minions.state'), width: '124px', sortable: true },
    render: (row) => <StateBadge state={row.state} title={row.problem} />,
  },
  {
    ...{ name: 'since', label: t('minions.since'), width: '118px', sortable: true, wide: true },
    render: (row) => <Ago at={row.since} />,
  },
  {
    ...{ name: 'version', label: t('minions.version'), width: '80px', sortable: true, wide: true },
    render: (row) => row.version,
  },
  {
    ...{ name: 'os', label: t('minions.os'), width: 'minmax(90px, 1fr)', sortable: true, wide: true },
    render: (row) => row.os,
  },
  {
    ...{ name: 'address', label: t('minions.address'), width: '112px', sortable: true, wide: true },
    render: (row) => hostOf(row.address),
  },
  {
    ...{ name: 'tags', label: t('minions.tags'), width: 'minmax(70px, 1fr)', wide: true },
    render: (row) =>
      row.tags.map((tag) => (
        <Badge key={tag} tone="plain">
          {tag}
        </Badge>
      )),
  },
  {
    ...{ name: 'lastJob', label: t('minions.lastJob'), width: '92px', wide: true },
    render: (row) =>
      row.lastJob === '' ? (
        <span class="faint">–</span>
      ) : (
        <a tabIndex={-1} href={hashOf(['job', row.lastJob])}>
          {row.failed > 0 ? <Badge tone="bad">{t('minions.failed', { n: row.failed })}</Badge> : t('minions.ok')}
        </a>
      ),
  },
];

export function Minions() {
  const query = place.value.query;
  const q = [query.get('q') ?? '', query.get('state') ?? ''].filter(Boolean).join(' ');
  const sort = query.get('sort') ?? 'id';
  const rows = useRowWindow((offset, limit, stop) => fleet({ q, sort, offset, limit }, stop), minionRow, [q, sort]);
  const window = useLiveRows(rows, q, sort);
  const total = rows.total.value;
  const shown = useMemo(columns, [chosen.value, rows.changes.value]);
  return (
    <>
      <div class="page-head">
        <h1>
          {t('nav.minions')} {total !== undefined && <span class="page-count">{count(total)}</span>}
        </h1>
        <Button icon="export" onClick={() => void attempt(() => exportRows(q, sort))}>
          {t('action.export')}
        </Button>
      </div>
      <Search />
      <Facets />
      <Chosen q={q} total={total ?? 0} />
      {rows.problem.value && <Trouble problem={rows.problem.value} again={rows.reload} />}
      <Card class="flush">
        {total === 0 ? (
          <Empty text={q === '' ? t('minions.none') : t('minions.noneFound')} />
        ) : (
          <VirtualTable
            label={t('nav.minions')}
            total={total ?? 0}
            columns={shown}
            rowAt={rows.rowAt}
            onWindow={window}
            onOpen={(row) => go(['minion', row.id])}
            onSelect={toggle}
            isSelected={(row) => chosen.value.has(row.id)}
            sort={sort}
            onSort={(next) => setQuery({ sort: next })}
            rows={16}
          />
        )}
      </Card>
    </>
  );
}

/** Other tabs look at other parts of the list. */
const ownTopic = `fleet:${Math.random().toString(36).slice(2, 10)}`;
const mostLive = 200;
const scrollPause = 300;

/** The stream tells what changes in the rows that are visible, once scrolling has stopped. */
function useLiveRows(rows: RowWindow<MinionRow>, q: string, sort: string): (first: number, last: number) => void {
  const [part, setPart] = useState({ offset: 0, limit: 50 });
  const latest = useRef(part);
  const follow = useCalm(() => setPart(latest.current), scrollPause);
  const show = useCallback(
    (first: number, last: number) => {
      rows.show(first, last);
      latest.current = { offset: first, limit: Math.max(1, Math.min(mostLive, last - first)) };
      follow();
    },
    [rows],
  );
  useLive(
    // Messages about an earlier part, which are still under way, are about other rows.
    `${ownTopic}.${part.offset}`,
    (message) => {
      if (message.kind !== 'fleet') return;
      const changed = new Map<number, Record<string, unknown>>();
      for (const [row, col, value] of message.cells) {
        const name = fleetColumns[col];
        if (name) changed.set(row, { ...changed.get(row), [name]: value });
      }
      rows.total.value = message.total;
      for (const [row, cells] of changed)
        rows.change(part.offset + row, (before) => minionRow({ ...raw(before), ...cells }));
    },
    { q, sort, ...part },
  );
  return show;
}

/** A row as the API gives it, so that single cells can be replaced. */
const raw = (row: MinionRow): Record<string, unknown> => ({ ...row });

/** Without the transport and the port, which change with every connection. */
const hostOf = (address: string): string => address.replace(/^\w+:\/\//, '').replace(/:\d+$/, '');

/** Typing waits a moment before it asks. */
const typingPause = 200;

function Search() {
  const asked = place.value.query.get('q') ?? '';
  const [text, setText] = useState(asked);
  const [views, setViews] = useState(() => savedViews('minions'));
  useEffect(() => setText(asked), [asked]);
  useEffect(() => {
    if (text === asked) return undefined;
    const timer = setTimeout(() => setQuery({ q: text }), typingPause);
    return () => clearTimeout(timer);
  }, [text]);
  const save = (next: readonly string[]): void => {
    saveViews('minions', next);
    setViews(savedViews('minions'));
  };
  return (
    <div class="search-row">
      <input
        type="search"
        value={text}
        placeholder={t('minions.search')}
        aria-label={t('minions.search')}
        spellcheck={false}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      {asked !== '' && (
        <Button
          icon="star"
          kind="quiet"
          title={views.includes(asked) ? t('views.remove') : t('views.save')}
          pressed={views.includes(asked)}
          onClick={() => save(views.includes(asked) ? views.filter((view) => view !== asked) : [asked, ...views])}
        />
      )}
      {views.map((view) => (
        <button key={view} type="button" class="chip" onClick={() => setQuery({ q: view })}>
          {view}
        </button>
      ))}
    </div>
  );
}

function Facets() {
  const summary = useSummary();
  const state = place.value.query.get('state');
  const facts = summary.value.value;
  if (!facts) return null;
  const list = Object.entries(facts.states).filter(([, n]) => n > 0);
  return (
    <fieldset class="facets">
      <legend class="hidden">{t('minions.state')}</legend>
      {list.map(([name, n]) => (
        <button
          key={name}
          type="button"
          class="chip"
          aria-pressed={state === name}
          onClick={() => setQuery({ state: state === name ? undefined : name })}
        >
          <span class={`dot s-${name}`} aria-hidden="true" />
          {word('state', name)} <strong>{count(n)}</strong>
        </button>
      ))}
    </fieldset>
  );
}

function Chosen({ q, total }: { readonly q: string; readonly total: number }) {
  const ids = chosen.value;
  const byQuery = q.startsWith('@') ? q.slice(1) : q === '' ? '*' : undefined;
  if (ids.size === 0)
    return byQuery !== undefined && total > 0 ? (
      <p class="chosen faint">
        <Button
          kind="quiet"
          icon="run"
          onClick={() => go(['run'], { tgt: byQuery, type: byQuery === '*' ? 'glob' : 'compound' })}
        >
          {t('minions.runOnAll', { n: total })}
        </Button>
      </p>
    ) : null;
  return (
    <p class="chosen" role="status">
      {t('minions.chosen', { n: ids.size })}
      <Button kind="main" icon="run" onClick={() => go(['run'], { tgt: [...ids].join(','), type: 'list' })}>
        {t('minions.runOn')}
      </Button>
      <Button kind="quiet" onClick={() => (chosen.value = new Set())}>
        {t('minions.chooseNone')}
      </Button>
    </p>
  );
}

async function exportRows(q: string, sort: string): Promise<void> {
  const lines: string[] = [];
  for (let offset = 0; offset < mostExported; offset += 1000) {
    const page = await fleet({ q, sort, offset, limit: 1000 });
    for (const row of page.rows.map(minionRow))
      lines.push([row.id, row.state, row.version, row.os, row.address].map(csv).join(','));
    if (offset + 1000 >= page.total) break;
  }
  saveFile('minions.csv', `id,state,version,os,address\n${lines.join('\n')}\n`, 'text/csv');
}

/** Cells that a spreadsheet would take for a formula begin with a sign of text. */
function csv(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
