// One minion: what it is, what it did, and why it does not answer.
import { type MinionRow, minionFacts, minionPart, minionRow } from '../../api/fleet.ts';
import { jobRow } from '../../api/jobs.ts';
import { fieldsOf, pageOf, textsOf } from '../../api/read.ts';
import { Ago, Badge, Button, Card, Empty, Shown } from '../../kit/basics.tsx';
import { JobList } from '../../kit/job-list.tsx';
import { StateBadge } from '../../kit/state-badge.tsx';
import { Tree } from '../../kit/tree.tsx';
import { useLive } from '../../live/link.ts';
import { useCalm, useLoad } from '../../state/load.ts';
import { go, place, setQuery } from '../../state/router.ts';
import { type TextKey, t } from '../../text/text.ts';
import { Pillar } from './pillar.tsx';

const tabs = ['grains', 'jobs', 'pillar', 'mine', 'explain', 'timeline'] as const;
type Tab = (typeof tabs)[number];

export function Minion() {
  const id = place.value.parts[1] ?? '';
  const facts = useLoad(async () => minionRow(await minionFacts(id)), [id]);
  const again = useCalm(facts.reload, 1000);
  useLive('summary', again);
  const tab = tabs.find((name) => name === place.value.query.get('tab')) ?? 'grains';
  return (
    <>
      <div class="page-head">
        <h1 class="id">{id}</h1>
        <Button kind="main" icon="run" onClick={() => go(['run'], { tgt: id, type: 'list' })}>
          {t('minion.run')}
        </Button>
      </div>
      <Shown of={facts}>{(row) => <Facts row={row} />}</Shown>
      <div class="tabs" role="tablist" aria-label={t('minion.tabs')}>
        {tabs.map((name) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`tab-${name}`}
            aria-selected={tab === name}
            aria-controls="panel"
            tabIndex={tab === name ? 0 : -1}
            onClick={() => setQuery({ tab: name })}
            onKeyDown={moveTab}
          >
            {t(`minion.${name}` satisfies TextKey)}
          </button>
        ))}
      </div>
      <div id="panel" role="tabpanel" aria-labelledby={`tab-${tab}`}>
        <Panel key={tab} id={id} tab={tab} />
      </div>
    </>
  );
}

function moveTab(event: KeyboardEvent): void {
  const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
  if (step === 0 || !(event.currentTarget instanceof HTMLElement)) return;
  const all = [...(event.currentTarget.parentElement?.querySelectorAll<HTMLElement>('[role=tab]') ?? [])];
  const next = all[(all.indexOf(event.currentTarget) + step + all.length) % all.length];
  next?.click();
  next?.focus();
  event.preventDefault();
}

function Facts({ row }: { readonly row: MinionRow }) {
  const facts: readonly (readonly [TextKey, preact.ComponentChildren])[] = [
    ['minions.state', <StateBadge key="state" state={row.state} />],
    ['minions.since', <Ago key="since" at={row.since} />],
    ['minion.lastSeen', <Ago key="seen" at={row.lastSeen} />],
    ['minions.version', row.version || '–'],
    ['minions.os', row.os || '–'],
    ['minions.address', row.address || '–'],
    ['minion.key', row.key || '–'],
    [
      'minions.tags',
      row.tags.length === 0
        ? '–'
        : row.tags.map((tag) => (
            <Badge key={tag} tone="plain">
              {tag}
            </Badge>
          )),
    ],
  ];
  return (
    <Card>
      {row.problem !== '' && <p class="why">{row.problem}</p>}
      <dl class="facts">
        {facts.map(([label, value]) => (
          <div key={label}>
            <dt>{t(label)}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </Card>
  );
}

function Panel({ id, tab }: { readonly id: string; readonly tab: Tab }) {
  if (tab === 'pillar') return <Pillar id={id} />;
  return <Part id={id} tab={tab} />;
}

function Part({ id, tab }: { readonly id: string; readonly tab: Exclude<Tab, 'pillar'> }) {
  const found = useLoad(() => minionPart(id, tab), [id, tab]);
  return (
    <Card>
      <Shown of={found}>
        {(value) => {
          if (tab === 'jobs') return <JobList rows={pageOf(value).rows.map(jobRow)} empty={t('jobs.none')} />;
          if (tab === 'timeline') return <Timeline value={value} />;
          if (tab === 'explain') return <Explain value={value} />;
          return <Tree value={value} label={t(`minion.${tab}` satisfies TextKey)} empty={t('minion.nothing')} />;
        }}
      </Shown>
    </Card>
  );
}

/** The timeline has a tab of its own. */
function Explain({ value }: { readonly value: unknown }) {
  const told = Object.fromEntries(Object.entries(fieldsOf(value)).filter(([name]) => name !== 'timeline'));
  return <Tree value={told} label={t('minion.explain')} empty={t('minion.nothing')} />;
}

function Timeline({ value }: { readonly value: unknown }) {
  const lines = textsOf(value);
  if (lines.length === 0) return <Empty text={t('minion.nothing')} />;
  return (
    <ol class="timeline">
      {lines.map((line) => (
        <li key={line} class="mono">
          {line}
        </li>
      ))}
    </ol>
  );
}
