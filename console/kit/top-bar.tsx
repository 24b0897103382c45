// The bar above the page: search over everything, the live connection, help, look, language, the user.
import { useEffect, useState } from 'preact/hooks';
import { logOut, renewSession, session } from '../api/session.ts';
import { linkState } from '../live/link.ts';
import { helpOpen } from '../state/keys.ts';
import { go } from '../state/router.ts';
import { language, theme } from '../state/settings.ts';
import { durationText, t, word } from '../text/text.ts';
import { Button, now } from './basics.tsx';
import { attempt } from './dialog.tsx';
import { Icon } from './icons.tsx';

const isJid = (text: string): boolean => /^\d{20}(_.+)?$/.test(text);
/** Seconds before the end of the session at which it is said. */
const warnBefore = 600;

export function TopBar({ menuOpen, onMenu }: { readonly menuOpen: boolean; readonly onMenu: () => void }) {
  const [text, setText] = useState('');
  const search = (event: Event): void => {
    event.preventDefault();
    const asked = text.trim();
    if (asked === '') return;
    setText('');
    if (isJid(asked)) go(['job', asked]);
    else go(['minions'], { q: asked });
  };
  return (
    <header class="top">
      <button
        type="button"
        class="button quiet menu"
        aria-label={t('nav.menu')}
        aria-expanded={menuOpen}
        aria-controls="nav"
        onClick={onMenu}
      >
        <Icon name="menu" />
      </button>
      <form role="search" onSubmit={search}>
        <Icon name="search" />
        <input
          type="search"
          value={text}
          placeholder={t('top.search')}
          aria-label={t('top.search')}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <kbd>/</kbd>
      </form>
      <Connection />
      <div class="top-tools">
        <Button
          icon="language"
          kind="quiet"
          title={t('top.language')}
          onClick={() => (language.value = language.value === 'zh' ? 'en' : 'zh')}
        />
        <Button
          icon={theme.value === 'dark' ? 'sun' : 'moon'}
          kind="quiet"
          title={t('top.theme')}
          onClick={() => (theme.value = isDark() ? 'light' : 'dark')}
        />
        <Button icon="help" kind="quiet" title={t('top.help')} onClick={() => (helpOpen.value = true)} />
      </div>
      <User />
    </header>
  );
}

const isDark = (): boolean =>
  theme.value === 'dark' || (theme.value === 'auto' && matchMedia('(prefers-color-scheme: dark)').matches);

/** A loss is said after five seconds: shorter ones are nobody's concern. */
const bannerAfter = 5_000;

function Connection() {
  const state = linkState.value;
  const [late, setLate] = useState(false);
  useEffect(() => {
    setLate(false);
    if (state !== 'lost') return undefined;
    const timer = setTimeout(() => setLate(true), bannerAfter);
    return () => clearTimeout(timer);
  }, [state]);
  const text = word('link', state);
  return (
    <>
      <span class={`link-state ${state}`} title={text}>
        <span class="dot" aria-hidden="true" />
        <span class="link-text">{text}</span>
      </span>
      {late && (
        <div class="banner" role="alert">
          <Icon name="warning" />
          {t('link.banner')}
        </div>
      )}
    </>
  );
}

function User() {
  const who = session.value;
  const left = (who?.expire ?? 0) - now.value;
  return (
    <div class="user">
      {who && who.expire > 0 && left < warnBefore && (
        <Button kind="main" onClick={() => void attempt(renewSession, t('top.renewed'))}>
          {t('top.expires', { time: durationText(Math.max(0, left)) })}
        </Button>
      )}
      <span class="user-name" title={who?.eauth}>
        <Icon name="user" />
        <span>{who?.user}</span>
      </span>
      <Button icon="out" kind="quiet" title={t('top.logout')} onClick={() => void logOut()} />
    </div>
  );
}
