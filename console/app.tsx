// The frame around all pages: navigation, the state of the connection, who is logged in.
import { signal } from '@preact/signals';
import type { FunctionComponent } from 'preact';
import { useEffect } from 'preact/hooks';
import { can, type Rights, session } from './api/session.ts';
import { Waiting } from './kit/basics.tsx';
import { Overlays } from './kit/dialog.tsx';
import { Icon, type IconName, Logo } from './kit/icons.tsx';
import { KeyHelp } from './kit/key-help.tsx';
import { TopBar } from './kit/top-bar.tsx';
import { Audit } from './pages/audit.tsx';
import { Doctor } from './pages/doctor.tsx';
import { Events } from './pages/events.tsx';
import { Job } from './pages/job/job.tsx';
import { Jobs } from './pages/jobs.tsx';
import { Keys } from './pages/keys.tsx';
import { Login } from './pages/login.tsx';
import { Masters } from './pages/masters.tsx';
import { Metrics } from './pages/metrics.tsx';
import { Minion } from './pages/minion/minion.tsx';
import { Minions } from './pages/minions.tsx';
import { Overview } from './pages/overview.tsx';
import { Run } from './pages/run/run.tsx';
import { Runners } from './pages/runners.tsx';
import { Schedules } from './pages/schedules.tsx';
import { Settings } from './pages/settings.tsx';
import { States } from './pages/states.tsx';
import { hashOf, place } from './state/router.ts';
import { type TextKey, t } from './text/text.ts';

interface PageEntry {
  readonly name: string;
  readonly title: TextKey;
  readonly page: FunctionComponent;
  /** Left out of the navigation for those who may not see it. */
  readonly needs?: keyof Rights;
  /** Undefined: reached from other pages only. */
  readonly icon?: IconName;
}

const groups: readonly { readonly title: TextKey; readonly pages: readonly PageEntry[] }[] = [
  {
    title: 'nav.fleet',
    pages: [
      { name: 'overview', title: 'nav.overview', page: Overview, icon: 'overview' },
      { name: 'minions', title: 'nav.minions', page: Minions, icon: 'minions' },
      { name: 'minion', title: 'nav.minion', page: Minion },
      { name: 'keys', title: 'nav.keys', page: Keys, icon: 'keys', needs: 'keys' },
    ],
  },
  {
    title: 'nav.work',
    pages: [
      { name: 'run', title: 'nav.run', page: Run, icon: 'run', needs: 'run' },
      { name: 'jobs', title: 'nav.jobs', page: Jobs, icon: 'jobs' },
      { name: 'job', title: 'nav.job', page: Job },
      { name: 'states', title: 'nav.states', page: States, icon: 'states' },
      { name: 'schedules', title: 'nav.schedules', page: Schedules, icon: 'schedules' },
      { name: 'runners', title: 'nav.runners', page: Runners, icon: 'runners' },
    ],
  },
  {
    title: 'nav.watch',
    pages: [
      { name: 'events', title: 'nav.events', page: Events, icon: 'events' },
      { name: 'metrics', title: 'nav.metrics', page: Metrics, icon: 'metrics', needs: 'operate' },
      { name: 'doctor', title: 'nav.doctor', page: Doctor, icon: 'doctor', needs: 'operate' },
    ],
  },
  {
    title: 'nav.master',
    pages: [
      { name: 'masters', title: 'nav.masters', page: Masters, icon: 'masters', needs: 'operate' },
      { name: 'audit', title: 'nav.audit', page: Audit, icon: 'tokens', needs: 'operate' },
      { name: 'settings', title: 'nav.settings', page: Settings, icon: 'settings' },
    ],
  },
];

const pages = new Map(groups.flatMap((group) => group.pages.map((entry) => [entry.name, entry])));
const current = (): PageEntry | undefined => pages.get(place.value.parts[0] ?? 'overview');

/** On narrow screens. */
const menuOpen = signal(false);

export function App() {
  const who = session.value;
  const entry = current();
  const [, thing] = place.value.parts;
  const title = entry ? t(entry.title) : t('page.unknown');
  useEffect(() => {
    document.title = `${thing ? `${thing} · ` : ''}${title} · Halite`;
    menuOpen.value = false;
  }, [title, thing]);
  if (who === undefined) return <Waiting />;
  if (who === null)
    return (
      <>
        <Login />
        <Overlays />
      </>
    );
  return (
    <div class={`frame ${menuOpen.value ? 'menu-open' : ''}`}>
      <a class="skip" href={location.hash || '#/'} onClick={() => document.querySelector<HTMLElement>('main')?.focus()}>
        {t('nav.skip')}
      </a>
      <Navigation />
      <TopBar menuOpen={menuOpen.value} onMenu={() => (menuOpen.value = !menuOpen.value)} />
      {menuOpen.value && (
        <button type="button" class="veil" aria-label={t('action.close')} onClick={() => (menuOpen.value = false)} />
      )}
      <main tabIndex={-1} key={`${entry?.name} ${thing ?? ''}`}>
        {entry ? <entry.page /> : <p>{t('page.unknown')}</p>}
      </main>
      <Overlays />
      <KeyHelp />
    </div>
  );
}

function Navigation() {
  const here = current()?.name;
  const shown = here === 'minion' ? 'minions' : here === 'job' ? 'jobs' : here;
  return (
    <nav class="nav" id="nav" aria-label={t('nav.label')}>
      <a class="brand" href={hashOf(['overview'])}>
        <Logo />
        <span>Halite</span>
      </a>
      {groups.map((group) => (
        <div key={group.title} class="nav-group">
          <p class="nav-title">{t(group.title)}</p>
          {group.pages.map(({ name, title, icon, needs }) =>
            icon && (needs === undefined || can(needs)) ? (
              <a key={name} href={hashOf([name])} {...(shown === name ? { 'aria-current': 'page' } : {})}>
                <Icon name={icon} />
                {t(title)}
              </a>
            ) : null,
          )}
        </div>
      ))}
    </nav>
  );
}
