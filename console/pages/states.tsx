// State runs: a matrix of states and minions, and the union of all differences.
import { useState } from 'preact/hooks';
import { type AnswerRow, answerRow, answers, type JobRow, jobRow, jobs } from '../api/jobs.ts';
import { Ago, Card, Empty, Shown } from '../kit/basics.tsx';
import { Output } from '../kit/output.tsx';
import { BalanceBar, countsFrom } from '../kit/verdicts.tsx';
import { useLive } from '../live/link.ts';
import { useCalm, useLoad } from '../state/load.ts';
import { hashOf, place, setQuery } from '../state/router.ts';
import { count, t, word } from '../text/text.ts';
import { diffGroups, type StateMark, type StateRow, stateRows } from './states-read.ts';

const signs: Readonly<Record<StateMark, string>> = { ok: '✓', changed: '△', failed: '✕', planned: '○', skipped: '–' };
/** More minions than columns fit: the differences below show all of them. */
const mostColumns = 60;
const mostMinions = 1000;

export function States() {
  const runs = useLoad((signal) => jobs({ q: 'fun=state.*', limit: 50 }, signal), []);
  const again = useCalm(runs.reload, 2000);
  useLive('jobs', again);
  return (
    <>
      <div class="page-head">
        <h1>{t('nav.states')}</h1>
      </div>
      <Shown of={runs}>
        {(page) => {
          const list = page.rows.map(jobRow);
          const chosen = list.find(({ jid }) => jid === place.value.query.get('jid')) ?? list[0];
          if (!chosen)
            return (
              <Card>
                <Empty text={t('states.none')} />
              </Card>
            );
          return (
            <>
              <RunChoice list={list} chosen={chosen} />
              <OneRun key={chosen.jid} job={chosen} />
            </>
          );
        }}
      </Shown>
    </>
  );
}

function RunChoice({ list, chosen }: { readonly list: readonly JobRow[]; readonly chosen: JobRow }) {
  return (
    <Card class="run-choice">
      <label>
        <span>{t('states.run')}</span>
        <select value={chosen.jid} onChange={(event) => setQuery({ jid: event.currentTarget.value })}>
          {list.map((job) => (
            <option key={job.jid} value={job.jid}>
              {[job.fun, ...job.arg.map(String), '·', job.target, '·', job.jid].join(' ')}
            </option>
          ))}
        </select>
      </label>
      <p class="run-facts">
        <a href={hashOf(['job', chosen.jid])}>{t('states.toJob')}</a> · {chosen.user} · <Ago at={chosen.startedAt} />
      </p>
      <BalanceBar counts={countsFrom(chosen.balance)} />
    </Card>
  );
}

async function allAnswers(jid: string, signal: AbortSignal): Promise<readonly AnswerRow[]> {
  const page = await answers(jid, { limit: mostMinions }, signal);
  return page.rows.map(answerRow);
}

function OneRun({ job }: { readonly job: JobRow }) {
  const found = useLoad((signal) => allAnswers(job.jid, signal), [job.jid]);
  return (
    <Shown of={found}>
      {(rows) => {
        const states = stateRows(rows);
        if (states.length === 0)
          return (
            <Card>
              <Empty text={t('states.noStates')} />
            </Card>
          );
        return (
          <>
            <Matrix states={states} minions={rows.map(({ id }) => id)} />
            <Differences states={states} />
          </>
        );
      }}
    </Shown>
  );
}

function Matrix({ states, minions }: { readonly states: readonly StateRow[]; readonly minions: readonly string[] }) {
  const [only, setOnly] = useState(false);
  const shown = minions.slice(0, mostColumns);
  const rows = only
    ? states.filter(({ byMinion }) => [...byMinion.values()].some(({ mark }) => mark !== 'ok' && mark !== 'skipped'))
    : states;
  return (
    <Card
      class="flush"
      title={t('states.matrix')}
      actions={
        <label class="check">
          <input type="checkbox" checked={only} onChange={(event) => setOnly(event.currentTarget.checked)} />
          {t('states.onlyChanged')}
        </label>
      }
    >
      <div class="plain-table matrix" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th>{t('states.state')}</th>
              {shown.map((id) => (
                <th key={id} class="column-name">
                  <span>{id}</span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.key}>
                <th scope="row" title={`${row.sls} · ${row.name}`}>
                  <code>{row.fun}</code> {row.id}
                </th>
                {shown.map((id) => {
                  const result = row.byMinion.get(id);
                  const mark = result ? word('mark', result.mark) : '';
                  return (
                    <td
                      key={id}
                      class={`mark ${result?.mark ?? ''}`}
                      title={result ? `${id}: ${mark}\n${result.comment}` : id}
                    >
                      <span aria-hidden="true">{result ? signs[result.mark] : ''}</span>
                      <span class="hidden">{mark}</span>
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {minions.length > shown.length && (
        <p class="faint in-card">{t('states.moreMinions', { n: minions.length - shown.length })}</p>
      )}
    </Card>
  );
}

function Differences({ states }: { readonly states: readonly StateRow[] }) {
  const list = states.map((row) => ({ row, groups: diffGroups(row) })).filter(({ groups }) => groups.length > 0);
  return (
    <Card class="flush" title={t('states.differences')}>
      {list.length === 0 ? (
        <Empty text={t('states.noDifferences')} />
      ) : (
        <div class="groups">
          {list.flatMap(({ row, groups }) =>
            groups.map((group) => (
              <details key={`${row.key} ${group.text}`} class={`group edge-${group.mark}`}>
                <summary>
                  <span class={`mark ${group.mark}`}>
                    {signs[group.mark]} {word('mark', group.mark)}
                  </span>
                  <strong class="group-count">{t('job.minions', { n: group.minions.length })}</strong>
                  <span class="group-first">
                    {row.fun} {row.id}
                  </span>
                </summary>
                <p class="group-ids faint">
                  {group.minions.slice(0, 30).join(', ')}
                  {group.minions.length > 30 && ` +${count(group.minions.length - 30)}`}
                </p>
                <Output text={group.text} label={row.id} />
              </details>
            )),
          )}
        </div>
      )}
    </Card>
  );
}
