// Pillar: its keys; values only when they are asked for, because they may be secrets.
import { useState } from 'preact/hooks';
import { minionPart } from '../../api/fleet.ts';
import { fieldsOf, textsOf } from '../../api/read.ts';
import { Button, Card, Shown } from '../../kit/basics.tsx';
import { Tree } from '../../kit/tree.tsx';
import { useLoad } from '../../state/load.ts';
import { t } from '../../text/text.ts';

export function Pillar({ id }: { readonly id: string }) {
  const [open, setOpen] = useState(false);
  const found = useLoad(() => minionPart(id, 'pillar', open ? { values: true } : {}), [id, open]);
  return (
    <Card
      actions={
        <Button pressed={open} onClick={() => setOpen(!open)}>
          {open ? t('pillar.hide') : t('pillar.show')}
        </Button>
      }
    >
      <p class="faint">{t('pillar.audited')}</p>
      <Shown of={found}>
        {(value) => {
          const names = Array.isArray(value) ? textsOf(value) : textsOf(fieldsOf(value)['keys']);
          if (open || names.length === 0)
            return <Tree value={value} label={t('minion.pillar')} empty={t('minion.nothing')} />;
          return (
            <ul class="names">
              {names.map((name) => (
                <li key={name}>
                  <code>{name}</code>
                </li>
              ))}
            </ul>
          );
        }}
      </Shown>
    </Card>
  );
}
