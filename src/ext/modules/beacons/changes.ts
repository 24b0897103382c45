// Adds, changes, removes, enables and disables beacons of a running minion.
import {
  type ModuleContext,
  messageOf,
  newDict,
  type PlainDict,
  pyEquals,
  pyStr,
  textKeyed,
  type Value,
} from 'halite/sdk';
import { unifiedDiff } from 'halite/sdk/text';
import { answer, ask, isTest, linesOf, listBeacons, settings } from './ask.ts';

const unheard = (what: string): PlainDict => answer(`Event module not available. ${what} failed.`, false);

/** Why a configuration is refused; undefined when it is fine. */
async function problemWith(name: string, data: Value, ctx: ModuleContext): Promise<string | undefined> {
  const told = await ask(ctx, { func: 'validate_beacon', name, beacon_data: data });
  return told?.['valid'] === true ? undefined : pyStr(told?.['vcomment'] ?? '');
}

export async function add(name: string, data: Value, kwargs: PlainDict, ctx: ModuleContext): Promise<PlainDict> {
  const known = await listBeacons(ctx);
  if (!known) return unheard('Beacon add');
  if (name in known) return answer(`Beacon ${name} is already configured.`, true);
  const kind = pyStr(settings(data)['beacon_module'] ?? name);
  const kinds = (await ask(ctx, { func: 'list_available' }))?.['beacons'];
  if (!Array.isArray(kinds) || !kinds.includes(kind)) return answer(`Beacon "${kind}" is not available.`, false);
  if (isTest(kwargs)) return answer(`Beacon: ${name} would be added.`, true);
  const problem = await problemWith(name, data, ctx);
  if (problem !== undefined) return answer(`Beacon ${name} configuration invalid, not adding.\n${problem}`, false);
  const told = await ask(ctx, { func: 'add', name, beacon_data: data });
  if (told?.['complete'] !== true) return answer(told?.['comment'] ?? `Failed to add beacon ${name}.`, false);
  return answer(`Added beacon: ${name}.`, true);
}

export async function modify(name: string, data: Value, kwargs: PlainDict, ctx: ModuleContext): Promise<PlainDict> {
  const known = await listBeacons(ctx);
  if (!known) return unheard('Beacon modify');
  const current = known[name];
  if (current === undefined) return answer(`Beacon ${name} is not configured.`, true);
  if (isTest(kwargs)) return answer(`Beacon: ${name} would be modified.`, true);
  const problem = await problemWith(name, data, ctx);
  if (problem !== undefined) return answer(`Beacon ${name} configuration invalid, not modifying.\n${problem}`, false);
  if (pyEquals(current, data)) return answer(`Job ${name} in correct state`, true);
  const changes = newDict([['diff', unifiedDiff(linesOf(current), linesOf(data))]]);
  const told = await ask(ctx, { func: 'modify', name, beacon_data: data });
  if (told?.['complete'] !== true) return answer(told?.['comment'] ?? '', false, { changes });
  return answer(`Modified beacon: ${name}.`, true, { changes });
}

export async function remove(name: string, kwargs: PlainDict, ctx: ModuleContext): Promise<PlainDict> {
  if (isTest(kwargs)) return answer(`Beacon: ${name} would be deleted.`, true);
  const told = await ask(ctx, { func: 'delete', name });
  if (!told) return unheard('Beacon delete');
  if (told['complete'] !== true) return answer(told['comment'] ?? `Failed to delete beacon ${name}.`, false);
  return answer(`Deleted beacon: ${name}.`, true);
}

export async function save(ctx: ModuleContext): Promise<PlainDict> {
  try {
    const told = await ask(ctx, { func: 'save' });
    return told ? answer(`Beacons saved to ${pyStr(told['file'] ?? '')}.`, true) : unheard('Beacon save');
  } catch (error) {
    return answer(`Unable to write to beacons file. Check permissions. ${messageOf(error)}`, false);
  }
}

export async function switchAll(on: boolean, kwargs: PlainDict, ctx: ModuleContext): Promise<PlainDict> {
  const [enable, Enabled] = on ? ['enable', 'Enabled'] : ['disable', 'Disabled'];
  if (isTest(kwargs)) return answer(`Beacons would be ${enable}d.`, true);
  const told = await ask(ctx, { func: enable });
  if (!told) return unheard(`Beacons ${enable} job`);
  const done = textKeyed(told['beacons'])['enabled'] === on;
  return done ? answer(`${Enabled} beacons on minion.`, true) : answer(`Failed to ${enable} beacons on minion.`, false);
}

export async function switchOne(name: string, on: boolean, kwargs: PlainDict, ctx: ModuleContext): Promise<PlainDict> {
  const [enable, Enabled] = on ? ['enable', 'Enabled'] : ['disable', 'Disabled'];
  if (!name) return answer('Beacon name is required.', false);
  // In Salt, the message for disabling one beacon is the one for all beacons.
  if (isTest(kwargs)) return answer(on ? `Beacon ${name} would be enabled.` : 'Beacons would be disabled.', true);
  const known = await listBeacons(ctx);
  if (!known) return unheard(`Beacon ${enable}_beacon job`);
  if (!(name in known)) return answer(`Beacon ${name} is not currently configured.`, false);
  const told = await ask(ctx, { func: `${enable}_beacon`, name });
  if (told?.['complete'] !== true) return answer(told?.['comment'] ?? '', false);
  return answer(`${Enabled} beacon ${name} on minion.`, true);
}

export async function reset(kwargs: PlainDict, ctx: ModuleContext): Promise<PlainDict> {
  if (isTest(kwargs)) return answer('Beacons would be reset.', true);
  return (await ask(ctx, { func: 'reset' }))
    ? answer('Beacon configuration reset.', true)
    : unheard('Beacon reset job');
}
