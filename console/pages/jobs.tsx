// The history of jobs: a query box, views to click, what runs now.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { type JobRow, jobRow, jobs } from '../api/jobs.ts';
import { Ago, Badge, Button, Card, Empty, Trouble } from '../kit/basics.tsx';
import { useRowWindow } from '../kit/row-window.ts';
import { BalanceBar, countsFrom } from '../kit/verdicts.tsx';
import { type Column, VirtualTable } from '../kit/virtual-table.tsx';
import { useLive } from '../live/link.ts';
import { useCalm } from '../state/load.ts';
import { go, hashOf, place, setQuery } from '../state/router.ts';
import { savedViews, saveViews } from '../state/settings.ts';
import { count, type TextKey, t } from '../text/text.ts';

const views: readonly (readonly [query: string, label: TextKey])[] = [
  ['', 'jobs.all'],
  ['running', 'jobs.running'],
  ['failed since 1d', 'jobs.failed'],
  ['missing since 1d', 'jobs.missing'],
  ['scheduled', 'jobs.scheduled'],
  ['internal', 'jobs.internal'],
];

const columns = (): readonly Column<JobRow>[] => [
  {
    ...{ name: 'fun', label: t('jobs.function'), width: 'minmax(130px, 1.6fr)', sortable: true },
    render: (row) => (
      <a class="mono" tabIndex={-1} href={hashOf(['job', row.jid])}>
        {row.fun}
        {row.arg.length > 0 && <span class="faint"> {row.arg.map(shortArgument).join(' ')}</span>}
      </a>
    ),
  },
  {
    ...{ name: 'tgt', label: t('jobs.target'), width: 'minmax(90px, 1fr)', sortable: true },
    render: (row) => <span class="mono line">{row.target}</span>,
  },
  {
    ...{ name: 'balance', label: t('jobs.balance'), width: 'minmax(110px, 1fr)' },
    render: (row) => (
      <span class="cell-balance">
        <BalanceBar counts={countsFrom(row.balance)} thin />
        {row.running ? (
          <Badge tone="note">{t('jobState.running')}</Badge>
        ) : (row.balance['failed'] ?? 0) > 0 ? (
          <span class="bad-text">{count(row.balance['failed'] ?? 0)} ✕</span>
        ) : (
          count(row.minions)
        )}
      </span>
    ),
  },
  {
    ...{ name: 'user', label: t('jobs.user'), width: '120px', sortable: true, wide: true },
    render: (row) => (row.schedule === '' ? row.user : <Badge tone="plain">{row.schedule}</Badge>),
  },
  {
    ...{ name: 'started', label: t('jobs.started'), width: '140px', sortable: true, wide: true },
    render: (row) => <Ago at={row.startedAt} />,
  },
  {
    ...{ name: 'jid', label: t('job.jid'), width: '190px', sortable: true, wide: true },
    render: (row) => <span class="mono faint">{row.jid}</span>,
  },
];

const shortArgument = (arg: unknown): string => (typeof arg === 'string' ? arg : JSON.stringify(arg)).slice(0, 60);

export function Jobs() {
  const query = place.value.query;
  const q = query.get('q') ?? '';
  const sort = query.get('sort') ?? '';
  const rows = useRowWindow((offset, limit, stop) => jobs({ q, sort, offset, limit }, stop), jobRow, [q, sort]);
  const again = useCalm(rows.reload, 1000);
  useLive('jobs', again);
  const total = rows.total.value;
  const shown = useMemo(columns, [rows.changes.value]);
  return (
    <>
      <div class="page-head">
        <h1>
          {t('nav.jobs')} {total !== undefined && <span class="page-count">{count(total)}</span>}
        </h1>
        <Button kind="main" icon="run" onClick={() => go(['run'])}>
          {t('overview.run')}
        </Button>
      </div>
      <QueryBox asked={q} />
      {rows.problem.value && <Trouble problem={rows.problem.value} again={rows.reload} />}
      <Card class="flush">
        {total === 0 ? (
          <Empty text={t('jobs.none')} />
        ) : (
          <VirtualTable
            label={t('nav.jobs')}
            total={total ?? 0}
            columns={shown}
            rowAt={rows.rowAt}
            onWindow={rows.show}
            onOpen={(row) => go(['job', row.jid])}
            sort={sort}
            onSort={(next) => setQuery({ sort: next })}
            rows={16}
          />
        )}
      </Card>
    </>
  );
}

const typingPause = 300;

function QueryBox({ asked }: { readonly asked: string }) {
  const [text, setText] = useState(asked);
  const [saved, setSaved] = useState(() => savedViews('jobs'));
  useEffect(() => setText(asked), [asked]);
  useEffect(() => {
    if (text === asked) return undefined;
    const timer = setTimeout(() => setQuery({ q: text.trim() }), typingPause);
    return () => clearTimeout(timer);
  }, [text]);
  const isView = views.some(([query]) => query === asked);
  const save = (): void => {
    saveViews('jobs', saved.includes(asked) ? saved.filter((view) => view !== asked) : [asked, ...saved]);
    setSaved(savedViews('jobs'));
  };
  return (
    <>
      <div class="search-row">
        <input
          type="search"
          class="mono"
          value={text}
          placeholder="fun=state.apply and failed since 2d"
          aria-label={t('jobs.search')}
          spellcheck={false}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        {!isView && (
          <Button
            icon="star"
            kind="quiet"
            pressed={saved.includes(asked)}
            title={saved.includes(asked) ? t('views.remove') : t('views.save')}
            onClick={save}
          />
        )}
      </div>
      <div class="facets">
        {views.map(([query, label]) => (
          <button
            key={query}
            type="button"
            class="chip"
            aria-pressed={asked === query}
            onClick={() => setQuery({ q: query })}
          >
            {t(label)}
          </button>
        ))}
        {saved.map((view) => (
          <button
            key={view}
            type="button"
            class="chip mono"
            aria-pressed={asked === view}
            onClick={() => setQuery({ q: view })}
          >
            {view}
          </button>
        ))}
      </div>
    </>
  );
}
