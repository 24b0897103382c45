// Tokens that are valid now, and who did what.
import { useState } from 'preact/hooks';
import { callMaster } from '../api/functions.ts';
import { audit, type TokenRow, tokens } from '../api/operations.ts';
import { type Fields, textOf, timeOf } from '../api/read.ts';
import { Button, Card, Empty, Shown, Time } from '../kit/basics.tsx';
import { attempt, confirm } from '../kit/dialog.tsx';
import { useLoad } from '../state/load.ts';
import { t } from '../text/text.ts';

export function Audit() {
  return (
    <>
      <div class="page-head">
        <h1>{t('nav.audit')}</h1>
      </div>
      <Tokens />
      <AuditLines />
    </>
  );
}

function Tokens() {
  const found = useLoad(tokens, []);
  const revoke = async (row: TokenRow): Promise<void> => {
    if (!(await confirm(t('tokens.revokeAsk', { user: row.user }), t('tokens.revokeText'), t('tokens.revoke'), true)))
      return;
    await attempt(() => callMaster('runners', 'auth.del_token', [row.token], {}), t('tokens.revoked'));
    found.reload();
  };
  return (
    <Card title={t('tokens.title')}>
      <Shown of={found}>
        {(list) =>
          list.length === 0 ? (
            <Empty text={t('tokens.none')} />
          ) : (
            <div class="plain-table" tabIndex={0}>
              <table>
                <thead>
                  <tr>
                    <th>{t('jobs.user')}</th>
                    <th>{t('login.method')}</th>
                    <th>{t('tokens.start')}</th>
                    <th>{t('tokens.expire')}</th>
                    <th>{t('tokens.token')}</th>
                    <th>{t('keys.actions')}</th>
                  </tr>
                </thead>
                <tbody>
                  {list.map((row) => (
                    <tr key={row.token}>
                      <td>{row.user}</td>
                      <td>{row.eauth}</td>
                      <td>
                        <Time at={row.start} />
                      </td>
                      <td>
                        <Time at={row.expire} />
                      </td>
                      <td>
                        <code>{row.token}…</code>
                      </td>
                      <td>
                        <Button onClick={() => void revoke(row)}>{t('tokens.revoke')}</Button>
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )
        }
      </Shown>
    </Card>
  );
}

/** What is not a column of its own. */
const known = new Set(['number', 'at', 'user', 'what', 'result', 'origin']);

function AuditLines() {
  const [asked, setAsked] = useState('');
  const [q, setQ] = useState('');
  const found = useLoad(() => audit(q), [q]);
  const submit = (event: Event): void => {
    event.preventDefault();
    setQ(asked.trim());
  };
  return (
    <Card title={t('audit.title')}>
      <form class="search-row" onSubmit={submit}>
        <input
          type="search"
          value={asked}
          placeholder={t('audit.search')}
          aria-label={t('audit.search')}
          onInput={(event) => setAsked(event.currentTarget.value)}
        />
        <Button icon="search" type="submit">
          {t('action.search')}
        </Button>
      </form>
      <Shown of={found}>
        {(list) => (list.length === 0 ? <Empty text={t('audit.none')} /> : <Lines list={list} />)}
      </Shown>
    </Card>
  );
}

function Lines({ list }: { readonly list: readonly Fields[] }) {
  return (
    <div class="plain-table" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th>{t('events.at')}</th>
            <th>{t('jobs.user')}</th>
            <th>{t('audit.what')}</th>
            <th>{t('audit.result')}</th>
            <th>{t('tokens.from')}</th>
            <th>{t('audit.more')}</th>
          </tr>
        </thead>
        <tbody>
          {list.map((row, at) => (
            <tr key={at}>
              <td>
                <Time at={timeOf(row['at'])} />
              </td>
              <td>{textOf(row['user'])}</td>
              <td>{textOf(row['what'])}</td>
              <td>{textOf(row['result'])}</td>
              <td>{textOf(row['origin'])}</td>
              <td class="mono line">{moreOf(row)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const moreOf = (row: Fields): string =>
  Object.entries(row)
    .filter(([name, value]) => !known.has(name) && value !== null && value !== '')
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ');
