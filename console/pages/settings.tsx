// Choices of this browser, what the user may do, and the configuration of the master, with secrets masked.
import { config } from '../api/operations.ts';
import { can, session } from '../api/session.ts';
import { Card, Shown, Time } from '../kit/basics.tsx';
import { Tree } from '../kit/tree.tsx';
import { useLoad } from '../state/load.ts';
import { confirmAbove, language, theme, utc } from '../state/settings.ts';
import { t } from '../text/text.ts';

interface ChoiceProps<T extends string> {
  readonly label: string;
  readonly value: T;
  readonly options: readonly (readonly [value: T, label: string])[];
  readonly onChange: (value: T) => void;
}

function Choice<T extends string>({ label, value, options, onChange }: ChoiceProps<T>) {
  return (
    <label>
      <span>{label}</span>
      <select
        value={value}
        onChange={(event) => {
          const chosen = options.find(([each]) => each === event.currentTarget.value);
          if (chosen) onChange(chosen[0]);
        }}
      >
        {options.map(([each, text]) => (
          <option key={each} value={each}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

export function Settings() {
  return (
    <>
      <div class="page-head">
        <h1>{t('nav.settings')}</h1>
      </div>
      <Card title={t('settings.browser')}>
        <div class="fields">
          <Choice
            label={t('settings.theme')}
            value={theme.value}
            options={[
              ['auto', t('settings.auto')],
              ['light', t('settings.light')],
              ['dark', t('settings.dark')],
            ]}
            onChange={(value) => (theme.value = value)}
          />
          <Choice
            label={t('settings.language')}
            value={language.value}
            options={[
              ['en', 'English'],
              ['zh', '中文'],
            ]}
            onChange={(value) => (language.value = value)}
          />
          <Choice
            label={t('settings.times')}
            value={utc.value}
            options={[
              ['local', t('settings.local')],
              ['utc', 'UTC'],
            ]}
            onChange={(value) => (utc.value = value)}
          />
          <Choice
            label={t('settings.confirm')}
            value={String(confirmAbove.value)}
            options={['1', '10', '50', '200', '1000'].map((n) => [n, n] as const)}
            onChange={(value) => (confirmAbove.value = Number(value))}
          />
        </div>
      </Card>
      <Card title={t('settings.you')}>
        <You />
      </Card>
      {can('operate') && <MasterConfig />}
    </>
  );
}

function You() {
  const who = session.value;
  if (!who) return null;
  return (
    <>
      <dl class="facts">
        <div>
          <dt>{t('login.name')}</dt>
          <dd>{who.user}</dd>
        </div>
        <div>
          <dt>{t('login.method')}</dt>
          <dd>{who.eauth}</dd>
        </div>
        <div>
          <dt>{t('settings.groups')}</dt>
          <dd>{who.groups.join(', ') || '–'}</dd>
        </div>
        <div>
          <dt>{t('tokens.expire')}</dt>
          <dd>
            <Time at={who.expire || undefined} />
          </dd>
        </div>
      </dl>
      <Tree value={who.rules} label={t('settings.rules')} empty={t('settings.noRules')} />
    </>
  );
}

function MasterConfig() {
  const found = useLoad(() => config(), []);
  return (
    <Card title={t('settings.config')}>
      <p class="faint">{t('settings.masked')}</p>
      <Shown of={found}>
        {(value) => <Tree value={value} label={t('settings.config')} empty={t('minion.nothing')} />}
      </Shown>
    </Card>
  );
}
