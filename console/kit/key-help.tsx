// The list of keys.
import { helpOpen } from '../state/keys.ts';
import { type TextKey, t } from '../text/text.ts';
import { Dialog } from './dialog.tsx';

const rows: readonly (readonly [keys: string, text: TextKey])[] = [
  ['/', 'help.search'],
  ['r', 'help.run'],
  ['g o', 'help.overview'],
  ['g m', 'help.minions'],
  ['g j', 'help.jobs'],
  ['g k', 'help.keys'],
  ['g e', 'help.events'],
  ['g s', 'help.states'],
  ['g d', 'help.doctor'],
  ['j k ↑ ↓', 'help.move'],
  ['x', 'help.select'],
  ['Enter', 'help.open'],
  ['?', 'help.help'],
  ['Esc', 'help.close'],
];

export function KeyHelp() {
  if (!helpOpen.value) return null;
  return (
    <Dialog title={t('help.title')} onClose={() => (helpOpen.value = false)}>
      <dl class="key-list">
        {rows.map(([keys, text]) => (
          <div key={keys}>
            <dt>
              {keys.split(' ').map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{t(text)}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
