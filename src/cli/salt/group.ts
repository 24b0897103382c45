// --group: equal answers are printed once, largest group first.

import { dumpJson } from '../../base/codec/json/dump.ts';
import { pyRepr } from '../../base/codec/python/repr.ts';
import { newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { listFirst } from '../../base/util/list-first.ts';
import type { MissingItem, ReturnItem } from './tally.ts';
import { type JobView, untilText, type ViewOptions } from './views.ts';

interface Group {
  readonly ids: string[];
  readonly ret: Value;
  readonly retcode: number;
  readonly out: string | undefined;
}

/** Number of names printed after a count before the list is truncated. */
const named = 5;

const counted = (count: number, what: string): string =>
  `${count.toLocaleString('en-US')} ${what}${count === 1 ? '' : 's'}`;

const names = (ids: readonly string[]): string => listFirst([...ids].sort(), named);

const bySize = <T extends { readonly ids: string[] }>(groups: Iterable<T>): T[] =>
  [...groups].sort((a, b) => b.ids.length - a.ids.length);

function groupData(group: Group): PlainDict {
  return newDict([
    ['minions', [...group.ids].sort()],
    ['retcode', group.retcode],
    ['ret', group.ret],
  ]);
}

/** Long answers are truncated in the last line; they are printed in full above it. */
const mostShown = 40;

/** `1,987 minions: True · 11 minions: … · 2 missing: its connection to the master was lost`. */
function balanceLine(groups: readonly Group[], missing: readonly { ids: string[]; text: string }[]): string {
  const cut = (text: string): string => (text.length > mostShown ? `${text.slice(0, mostShown)}…` : text);
  const shown = (ret: Value): string => cut((typeof ret === 'string' ? ret : pyRepr(ret)).split('\n', 1)[0] ?? '');
  return [
    ...groups.map((group) => `${counted(group.ids.length, 'minion')}: ${shown(group.ret)}`),
    ...missing.map(
      (group) => `${group.ids.length.toLocaleString('en-US')} missing: ${group.text.replace(/^\[[^\]]*\] /, '')}`,
    ),
  ].join(' · ');
}

export function groupView(options: ViewOptions): JobView {
  const groups = new Map<string, Group>();
  const missing = new Map<string, { ids: string[]; text: string }>();
  const add = (item: ReturnItem): void => {
    const key = `${item.retcode} ${item.out ?? ''} ${dumpJson(item.ret, { sortKeys: true })}`;
    const group = groups.get(key) ?? { ids: [], ret: item.ret, retcode: item.retcode, out: item.out };
    group.ids.push(item.id);
    groups.set(key, group);
  };
  const addMissing = (item: MissingItem): void => {
    const kind = item.connected ? 'No response' : 'Not connected';
    const key = `${kind} ${item.reason.code}`;
    const group = missing.get(key) ?? { ids: [], text: `[${kind}] ${item.reason.text}` };
    group.ids.push(item.id);
    missing.set(key, group);
  };
  return {
    item(item) {
      if (item.type === 'return') add(item);
      else if (item.type === 'missing' && options.showMissing) addMissing(item);
      else if (item.type === 'queued') missing.set(`queued ${item.id}`, { ids: [item.id], text: untilText(item) });
    },
    async end() {
      if (options.structured) {
        const away = bySize(missing.values()).map((group) =>
          newDict([
            ['minions', [...group.ids].sort()],
            ['missing', group.text],
          ]),
        );
        await options.display.show([...bySize(groups.values()).map(groupData), ...away]);
        return;
      }
      for (const group of bySize(groups.values())) {
        const head = `${counted(group.ids.length, 'minion')} (${names(group.ids)})`;
        await options.display.show(newDict([[head, group.ret]]), group.out, group.retcode);
      }
      for (const group of bySize(missing.values())) {
        const head = `${counted(group.ids.length, 'minion')} did not return (${names(group.ids)})`;
        await options.display.show(newDict([[head, group.text]]), 'no_return', 1);
      }
      options.io.out(`${balanceLine(bySize(groups.values()), bySize(missing.values()))}\n`);
    },
  };
}
