// Events as they happen: filtered by the server, paused by a key, their data on demand.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Button, Card, Copy, Empty } from '../kit/basics.tsx';
import { EventRate } from '../kit/event-rate.tsx';
import { Tree } from '../kit/tree.tsx';
import { type Column, VirtualTable } from '../kit/virtual-table.tsx';
import { useLive } from '../live/link.ts';
import { useCalm } from '../state/load.ts';
import { place, setQuery } from '../state/router.ts';
import { t, timeText } from '../text/text.ts';

interface SeenEvent {
  readonly tag: string;
  readonly data: unknown;
  readonly id: string;
  readonly at: number;
}

/** Older ones are forgotten. */
const mostKept = 2000;
const drawEvery = 250;
const filters: readonly string[] = [
  '*',
  'salt/job/*',
  'salt/minion/*',
  'salt/key',
  'salt/auth',
  'salt/run/*',
  'salt/beacon/*',
];

const columns = (): readonly Column<SeenEvent>[] => [
  {
    ...{ name: 'at', label: t('events.at'), width: '110px' },
    render: ({ at }) => <span class="faint">{timeText(at).split(/[ ,]+/).slice(1).join(' ')}</span>,
  },
  {
    ...{ name: 'tag', label: t('events.tag'), width: 'minmax(180px, 2fr)' },
    render: ({ tag }) => <span class="mono line">{tag}</span>,
  },
  {
    ...{ name: 'data', label: t('events.data'), width: 'minmax(100px, 3fr)', wide: true },
    render: ({ data }) => <span class="mono faint line">{JSON.stringify(data)?.slice(0, 300)}</span>,
  },
];

export function Events() {
  const glob = place.value.query.get('tag') || '*';
  const [typed, setTyped] = useState(glob);
  const [paused, setPaused] = useState(false);
  const [opened, setOpened] = useState<SeenEvent | undefined>(undefined);
  const kept = useRef<SeenEvent[]>([]);
  const [shown, setShown] = useState<readonly SeenEvent[]>([]);
  const [lost, setLost] = useState(0);
  const draw = useCalm(() => setShown([...kept.current]), drawEvery);
  useEffect(() => setTyped(glob), [glob]);
  useLive(`events:${glob}`, (message) => {
    if (message.kind === 'gap') setLost((before) => before + (message.lost ?? 1));
    if (message.kind !== 'event' || paused || !fits(glob, message.tag)) return;
    kept.current.unshift({ tag: message.tag, data: message.data, id: message.id, at: Date.now() / 1000 });
    kept.current.length = Math.min(kept.current.length, mostKept);
    draw();
  });
  const choose = (tag: string): void => {
    kept.current = [];
    setShown([]);
    setQuery({ tag });
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    choose(typed.trim());
  };
  const list = useMemo(columns, [shown]);
  return (
    <>
      <div class="page-head">
        <h1>{t('nav.events')}</h1>
        <div class="actions">
          <Button icon={paused ? 'run' : 'pause'} pressed={paused} onClick={() => setPaused(!paused)}>
            {paused ? t('events.go') : t('events.pause')}
          </Button>
          <Button onClick={() => choose(glob)}>{t('events.clear')}</Button>
        </div>
      </div>
      <Card title={t('overview.events')}>
        <EventRate height={110} />
      </Card>
      <form class="search-row" onSubmit={submit}>
        <input
          type="search"
          class="mono"
          value={typed}
          aria-label={t('events.filter')}
          placeholder="salt/job/*"
          spellcheck={false}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
        <Button icon="filter" type="submit">
          {t('events.filter')}
        </Button>
      </form>
      <div class="facets">
        {filters.map((tag) => (
          <button key={tag} type="button" class="chip mono" aria-pressed={glob === tag} onClick={() => choose(tag)}>
            {tag}
          </button>
        ))}
      </div>
      {lost > 0 && <p class="form-trouble">{t('events.lost', { n: lost })}</p>}
      {opened && <Opened event={opened} onClose={() => setOpened(undefined)} />}
      <Card class="flush">
        {shown.length === 0 ? (
          <Empty text={t('events.none')} />
        ) : (
          <VirtualTable
            label={t('nav.events')}
            total={shown.length}
            columns={list}
            rowAt={(index) => shown[index]}
            onOpen={setOpened}
            rows={14}
          />
        )}
      </Card>
    </>
  );
}

/** Another tab may have asked for more. */
function fits(glob: string, tag: string): boolean {
  const parts = glob.split('*').map((text) => text.replace(/[.+^${}()|[\]\\?]/g, '\\$&'));
  return new RegExp(`^${parts.join('[^]*')}$`).test(tag);
}

function Opened({ event, onClose }: { readonly event: SeenEvent; readonly onClose: () => void }) {
  const rule = `reactor:\n  - '${event.tag.replace(/\d{20}/g, '*')}':\n    - /srv/reactor/react.sls\n`;
  return (
    <Card
      title={event.tag}
      actions={
        <>
          <Copy text={rule} label={t('events.reactor')} />
          <Button icon="close" kind="quiet" title={t('action.close')} onClick={onClose} />
        </>
      }
    >
      <Tree value={event.data} label={event.tag} empty={t('minion.nothing')} />
    </Card>
  );
}
