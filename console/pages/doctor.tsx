// Findings of the doctor on the master, the worst first.
import { doctor } from '../api/operations.ts';
import { Button, Card, Empty, Shown } from '../kit/basics.tsx';
import { FindingList } from '../kit/findings.tsx';
import { useLoad } from '../state/load.ts';
import { t } from '../text/text.ts';

const worst = ['problem', 'warning', 'fine'];

export function Doctor() {
  const found = useLoad(doctor, []);
  return (
    <>
      <div class="page-head">
        <h1>{t('nav.doctor')}</h1>
        <Button icon="again" disabled={found.busy.value} onClick={found.reload}>
          {t('doctor.again')}
        </Button>
      </div>
      <Card>
        <Shown of={found}>
          {(list) =>
            list.length === 0 ? (
              <Empty text={t('doctor.none')} />
            ) : (
              <FindingList findings={[...list].sort((a, b) => rank(a.level) - rank(b.level))} />
            )
          }
        </Shown>
      </Card>
    </>
  );
}

const rank = (level: string): number => (worst.includes(level) ? worst.indexOf(level) : worst.length);
