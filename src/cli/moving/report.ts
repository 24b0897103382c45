// A plan and its outcome in plain words.
import { listFirst } from '../../base/util/list-first.ts';
import { visibleLine } from '../../base/util/visible.ts';
import type { OldMaster } from './old-master.ts';
import type { Placed } from './place.ts';
import type { Group, Plan } from './plan.ts';

const sizeText = (bytes: number): string =>
  bytes >= 1e9
    ? `${(bytes / 1e9).toFixed(1)} GB`
    : bytes >= 1e6
      ? `${(bytes / 1e6).toFixed(1)} MB`
      : bytes >= 1e3
        ? `${(bytes / 1e3).toFixed(1)} kB`
        : `${bytes} bytes`;

const counted = (count: number, what: string): string =>
  `${count.toLocaleString('en')} ${what}${count === 1 ? '' : 's'}`;

function groupLine({ what, from, to, placements }: Group): string {
  const bytes = placements.reduce((sum, { file }) => sum + file.size, 0);
  const size = `${counted(placements.length, 'file')}, ${sizeText(bytes)}`;
  return `  ${what.padEnd(16)} ${size.padEnd(24)} ${from === to ? to : `${from} -> ${to}`}`;
}

function keyLine(group: Group | undefined): string[] {
  if (!group) return [];
  const count = (folder: string): number => group.placements.filter(({ to }) => to.includes(`/${folder}/`)).length;
  const states = [
    [count('minions'), 'accepted'],
    [count('minions_pre'), 'pending'],
    [count('minions_rejected'), 'rejected'],
    [count('minions_denied'), 'denied'],
  ] as const;
  return [`  ${'minions'.padEnd(16)} ${states.map(([number, state]) => `${number} ${state}`).join(', ')}`];
}

export function planText(old: OldMaster, plan: Plan, configDir: string): string {
  const { host, program, source } = old;
  const lines = [
    `The ${program} master ${host === '' ? '' : `${host} `}(${source.name}, configuration ${source.configDir}) becomes the master of this machine, configuration ${configDir}:`,
    ...plan.groups.map(groupLine),
    ...keyLine(plan.groups.find(({ what }) => what === 'keys')),
  ];
  if (plan.text) lines.push(`  ${'options'.padEnd(16)} ${'what differs here'.padEnd(24)} ${plan.text.to}`);
  if (plan.removals.length > 0)
    lines.push(
      `Keys of minions that only exist here, or in another state, are removed: ${listFirst(plan.removals, 10)}`,
    );
  if (plan.notes.length > 0) lines.push('Note:', ...plan.notes.map((note) => `  ${visibleLine(note)}`));
  if (plan.refused.length > 0) lines.push('Refused:', ...plan.refused.map((line) => `  ${visibleLine(line)}`));
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n`;
}

export function placedText(placed: Placed): string {
  const { backup, added, replaced, removed } = placed;
  if (backup === undefined) return 'Everything is in place already: nothing was changed.\n';
  const name = backup.slice(backup.lastIndexOf('/') + 1);
  return `${counted(added, 'file')} added, ${replaced} replaced, ${removed} removed. Backup: ${backup}\nThe way back: salt-run master.restore ${name}\n`;
}
