// Rules of `external_auth` that mean more or less than under Salt.
import { dictSize, isDict, newDict } from '../../../base/codec/value.ts';
import type { MasterOpts } from '../../../base/config/index.ts';
import { compareRights, type Difference } from '../../../master/authorization/rights-report.ts';
import type { Findings } from './finding.ts';

const guide = 'docs/guide/users-and-rights.md';
const repairs: Readonly<Record<Difference['kind'], string>> = {
  less: `add the rule that is meant; see ${guide}`,
  more: `look whether these users should have it, before the first start; see ${guide}`,
  mistake: `correct it; see ${guide}`,
  power: 'nothing if that is meant; otherwise name the functions, for example {"@runner": [manage.up]}',
};

export async function examineRights(findings: Findings, { raw }: MasterOpts): Promise<void> {
  const { external_auth: externalAuth } = raw;
  if (!isDict(externalAuth) || dictSize(externalAuth) === 0) return;
  const [{ createRegistry, Loader }, { nullLogger }] = await Promise.all([
    import('../../../extend/loader/index.ts'),
    import('../../../base/log/null-logger.ts'),
  ]);
  const none = { grains: () => newDict(), log: nullLogger(), userCode: 'names' as const };
  const registry = createRegistry(new Loader({ opts: () => raw, ...none }));
  const [modules = [], runners = [], wheel = []] = await Promise.all(
    ['modules', 'runners', 'wheel'].map((kind) => registry.functionNames(kind)),
  );
  const found = compareRights({ raw, functions: { modules, runners, wheel } });
  for (const { kind, where, what } of found) findings.warning(`external_auth: ${where}: ${what}`, repairs[kind]);
  if (found.length === 0) findings.fine('The rules of external_auth mean the same as under Salt');
}
