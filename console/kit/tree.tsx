// Nested data: searched, folded, always text.
import { useState } from 'preact/hooks';
import { t } from '../text/text.ts';
import { Copy, Empty } from './basics.tsx';

export interface TreeProps {
  readonly value: unknown;
  readonly label: string;
  readonly empty: string;
}

/** Deeper data is shown as one line of JSON. */
const deepest = 12;
const mostItems = 500;

export function Tree({ value, label, empty }: TreeProps) {
  const [asked, setAsked] = useState('');
  if (value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0))
    return <Empty text={empty} />;
  if (typeof value !== 'object') return <Leaf value={value} />;
  return (
    <div class="tree-box">
      <div class="search-row">
        <input
          type="search"
          value={asked}
          placeholder={t('tree.search')}
          aria-label={t('tree.search')}
          onInput={(event) => setAsked(event.currentTarget.value)}
        />
        <Copy text={JSON.stringify(value, null, 2)} label="JSON" />
      </div>
      <section class="tree" aria-label={label}>
        <Branch value={value} depth={0} asked={asked.trim().toLowerCase()} />
      </section>
    </div>
  );
}

const holds = (name: string, value: unknown, asked: string): boolean =>
  asked === '' || name.toLowerCase().includes(asked) || (JSON.stringify(value) ?? '').toLowerCase().includes(asked);

interface BranchProps {
  readonly value: object;
  readonly depth: number;
  readonly asked: string;
}

function Branch({ value, depth, asked }: BranchProps) {
  const all = Object.entries(value).filter(([name, item]) => holds(name, item, asked));
  return (
    <ul>
      {all.slice(0, mostItems).map(([name, item]: [string, unknown]) => {
        const inside = name.toLowerCase().includes(asked) ? '' : asked;
        const isBranch = typeof item === 'object' && item !== null && Object.keys(item).length > 0;
        if (!isBranch || depth >= deepest)
          return (
            <li key={name} class="leaf">
              <span class={Array.isArray(value) ? 'leaf-name list-item' : 'leaf-name'}>
                {Array.isArray(value) ? '–' : name}
              </span>
              {isBranch ? <code>{JSON.stringify(item)}</code> : <Leaf value={item} />}
            </li>
          );
        return (
          <li key={name}>
            <details open={depth < 1 || inside !== ''}>
              <summary>
                {name} <span class="faint">{Object.keys(item).length}</span>
              </summary>
              <Branch value={item} depth={depth + 1} asked={inside} />
            </details>
          </li>
        );
      })}
      {all.length > mostItems && <li class="leaf faint">{t('tree.more', { n: all.length - mostItems })}</li>}
    </ul>
  );
}

function Leaf({ value }: { readonly value: unknown }) {
  if (value === null || value === undefined) return <span class="faint">–</span>;
  if (typeof value === 'string') return <span class="leaf-text">{value === '' ? '""' : value}</span>;
  return <code>{typeof value === 'object' ? JSON.stringify(value) : String(value)}</code>;
}
