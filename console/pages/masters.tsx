// Masters: this one, and the members of its cluster where there is one.
import { callMaster } from '../api/functions.ts';
import { Problem } from '../api/http.ts';
import { fieldsOf, textOf, textsOf } from '../api/read.ts';
import { Badge, Button, Card, Empty, Trouble, Waiting } from '../kit/basics.tsx';
import { Output } from '../kit/output.tsx';
import { Tree } from '../kit/tree.tsx';
import { useLoad } from '../state/load.ts';
import { t } from '../text/text.ts';

interface Cluster {
  readonly members: Readonly<Record<string, unknown>>;
  readonly status: string;
  readonly problems: readonly string[];
}

async function cluster(): Promise<Cluster | 'alone'> {
  const call = async (fun: string) => await callMaster('runners', fun, [], {});
  const members = await call('cluster.members').catch((error: unknown) => {
    if (error instanceof Problem && (error.status === 403 || error.status === 0)) throw error;
    return { success: false, value: undefined };
  });
  if (!members.success) return 'alone';
  const [status, problems] = await Promise.all([call('cluster.status'), call('cluster.problems')]);
  return { members: fieldsOf(members.value), status: textOf(status.value), problems: textsOf(problems.value) };
}

export function Masters() {
  const found = useLoad(cluster, []);
  const answer = found.value.value;
  const problem = found.problem.value;
  return (
    <>
      <div class="page-head">
        <h1>{t('nav.masters')}</h1>
        <Button icon="again" disabled={found.busy.value} onClick={found.reload}>
          {t('action.reload')}
        </Button>
      </div>
      {problem && <Trouble problem={problem} again={found.reload} />}
      {!answer && !problem && <Waiting />}
      {answer === 'alone' && (
        <Card>
          <Empty text={t('masters.single')} />
        </Card>
      )}
      {answer && answer !== 'alone' && <Members cluster={answer} />}
    </>
  );
}

function Members({ cluster: { members, status, problems } }: { readonly cluster: Cluster }) {
  return (
    <>
      <div class="tiles">
        {Object.entries(members).map(([id, each]) => {
          const state = textOf(fieldsOf(each)['state']);
          return (
            <section class="tile member" key={id} aria-label={id}>
              <strong>{id}</strong>
              <Badge tone={state === 'gone' ? 'bad' : state === 'serving' || state === 'up' ? 'good' : 'note'}>
                {state || '–'}
              </Badge>
            </section>
          );
        })}
      </div>
      {problems.map((text) => (
        <p key={text} class="why">
          {text}
        </p>
      ))}
      <Card title={t('masters.status')}>
        <Output text={status} label={t('masters.status')} />
      </Card>
      <Card title={t('masters.members')}>
        <Tree value={members} label={t('masters.members')} empty={t('masters.single')} />
      </Card>
    </>
  );
}
