// The login. The page that was asked for stays in the address, so it opens afterwards.
import { useEffect, useRef, useState } from 'preact/hooks';
import { addressOf, Problem } from '../api/http.ts';
import { authMethods, logIn } from '../api/session.ts';
import { Button } from '../kit/basics.tsx';
import { Logo } from '../kit/icons.tsx';
import { restartLink } from '../live/link.ts';
import { useLoad } from '../state/load.ts';
import { language, theme } from '../state/settings.ts';
import { t } from '../text/text.ts';

const lastMethod = 'halite.eauth';
const certificateMethod = 'pki';

export function Login() {
  const facts = useLoad(authMethods, []);
  const offered = facts.value.value ?? [];
  const byCertificate = offered.find(({ name: method }) => method === certificateMethod);
  const methods = offered.filter(({ name: method, start }) => start === '' && method !== certificateMethod);
  const elsewhere = offered.filter(({ start }) => start !== '');
  const known = facts.value.value !== undefined || facts.problem.value !== undefined;
  const asks = known && (methods.length > 0 || (elsewhere.length === 0 && !byCertificate));
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const [chosen, setChosen] = useState(() => localStorage.getItem(lastMethod) ?? '');
  const [trouble, setTrouble] = useState(() => (wasRefused() ? t('login.refused') : ''));
  const [busy, setBusy] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), [asks]);
  const eauth = methods.some((method) => method.name === chosen) ? chosen : (methods[0]?.name ?? '');

  const enter = async (work: () => Promise<void>, refused: string): Promise<void> => {
    setBusy(true);
    setTrouble('');
    try {
      await work();
      restartLink();
    } catch (error) {
      setPassword('');
      setTrouble(textOf(error, refused));
    } finally {
      setBusy(false);
    }
  };
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    await enter(async () => {
      await logIn(name, password, eauth);
      localStorage.setItem(lastMethod, eauth);
    }, t('login.refused'));
  };
  const showCertificate = (): Promise<void> =>
    enter(() => logIn('', '', certificateMethod), t('login.certificateRefused'));

  const fields = (
    <>
      <label>
        <span>{t('login.name')}</span>
        <input
          ref={field}
          name="username"
          autocomplete="username"
          autocapitalize="none"
          spellcheck={false}
          required
          value={name}
          onInput={(event) => setName(event.currentTarget.value)}
        />
      </label>
      <label>
        <span>{t('login.password')}</span>
        <input
          type="password"
          name="password"
          autocomplete="current-password"
          required
          value={password}
          onInput={(event) => setPassword(event.currentTarget.value)}
        />
      </label>
      <label>
        <span>{t('login.method')}</span>
        <select name="eauth" value={eauth} onChange={(event) => setChosen(event.currentTarget.value)}>
          {methods.map((method) => (
            <option key={method.name} value={method.name}>
              {method.label}
            </option>
          ))}
        </select>
      </label>
    </>
  );
  return (
    <main class="login">
      <form class="card login-card" onSubmit={(event) => void submit(event)}>
        <div class="login-brand">
          <Logo />
          <h1>Halite</h1>
        </div>
        {facts.problem.value && <p class="form-trouble">{textOf(facts.problem.value, t('login.refused'))}</p>}
        {elsewhere.map(({ name: method, label, start }) => (
          <a key={method} class="button main" href={startAddress(start)}>
            {label}
          </a>
        ))}
        {byCertificate && (
          <Button {...(asks ? {} : { kind: 'main' })} disabled={busy} onClick={() => void showCertificate()}>
            {t('login.certificate')}
          </Button>
        )}
        {asks && fields}
        <p class="form-trouble" role="alert">
          {trouble}
        </p>
        {asks && (
          <Button kind="main" type="submit" disabled={busy || eauth === ''}>
            {busy ? t('login.busy') : t('login.enter')}
          </Button>
        )}
      </form>
      <div class="login-tools">
        <Button
          icon="language"
          kind="quiet"
          title={t('top.language')}
          onClick={() => (language.value = language.value === 'zh' ? 'en' : 'zh')}
        />
        <Button
          icon="moon"
          kind="quiet"
          title={t('top.theme')}
          onClick={() => (theme.value = theme.value === 'dark' ? 'light' : 'dark')}
        />
      </div>
    </main>
  );
}

/** The page that was asked for is opened afterwards. */
const startAddress = (start: string): string => {
  const address = new URL(addressOf(start));
  address.searchParams.set('to', location.hash.slice(1) || '/');
  return address.href;
};

/** The identity provider has sent the browser back, but nobody was logged in. */
const wasRefused = (): boolean => new URLSearchParams(location.search).get('login') === 'refused';

function textOf(error: unknown, refused: string): string {
  if (!(error instanceof Problem)) return String(error);
  if (error.message === 'no-answer') return t('problem.noAnswer');
  return error.status === 401 ? refused : [error.message, error.hint].filter(Boolean).join(' · ');
}
