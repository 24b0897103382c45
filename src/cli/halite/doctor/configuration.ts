// Problems of a configuration: unknown options, values of the wrong type, folders that do not exist.
import { existsSync } from 'node:fs';
import { asList, isDict, type Value } from '../../../base/codec/value.ts';
import type { LoadedConfig } from '../../../base/config/index.ts';
import type { Findings } from './finding.ts';

export function examineConfiguration(findings: Findings, loaded: LoadedConfig<unknown>): void {
  const serious = loaded.problems.filter(({ level }) => level !== 'info');
  for (const { message, file, option, suggestion, advice } of serious) {
    const where = file ?? loaded.sources.join(', ');
    const repair = suggestion
      ? `write ${suggestion} instead of ${option ?? 'it'} in ${where}`
      : `correct it in ${where}`;
    findings.warning(message, advice ?? repair);
  }
  if (serious.length === 0)
    findings.fine(`Every option of ${loaded.sources.join(', ') || 'the configuration'} is known`);
}

/** Folders of `file_roots` and `pillar_roots` that do not exist serve nothing, silently. */
export function examineRoots(findings: Findings, name: string, roots: Value): void {
  if (!isDict(roots) || roots instanceof Map) return;
  for (const [environment, folders] of Object.entries(roots)) {
    for (const folder of asList(folders) ?? []) {
      if (typeof folder !== 'string' || !folder.startsWith('/') || /[*?[]|__env__/.test(folder)) continue;
      if (!existsSync(folder))
        findings.warning(`${name} names ${folder} for ${environment}, which does not exist`, `mkdir -p ${folder}`);
    }
  }
}
