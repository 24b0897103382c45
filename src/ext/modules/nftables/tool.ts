// Queries and changes the packet filter with `nft`.

import { commandError, type ModuleContext, messageOf, newDict, type PlainDict, pyStr, type Value } from 'halite/sdk';
import { isDirectory, writeFileSync } from 'halite/sdk/fs';
import { askTool } from 'halite/sdk/system';
import { lines, words } from 'halite/sdk/text';
import { allFamilies, familyOf, handleOf, hasRule } from './rule.ts';

export interface Place {
  readonly table: string;
  readonly chain: string;
  readonly family: string;
}

export const verdict = (result: boolean, comment: string): PlainDict => newDict(Object.entries({ result, comment }));
export const nft = async (ctx: ModuleContext, args: readonly string[]): Promise<string> => {
  const { stdout, stderr } = await askTool(ctx, 'nft', args);
  return `${stdout}${stderr}`.trim();
};
const where = ({ table, chain, family }: Place): string => `chain ${chain} in table ${table} in family ${family}`;

export async function tableThere(table: string, family: string, ctx: ModuleContext): Promise<PlainDict> {
  if (!table) return verdict(false, 'Table needs to be specified');
  const ip = familyOf(family);
  const listed = lines(await nft(ctx, ['list', 'tables', ip])).map((line) => line.trim());
  const there = listed.includes(`table ${ip} ${table}`);
  return verdict(there, `Table ${table} in family ${family} ${there ? 'exists' : 'does not exist'}`);
}

export async function chainThere({ table, chain, family }: Place, ctx: ModuleContext): Promise<PlainDict> {
  if (!chain) return verdict(false, 'Chain needs to be specified');
  const there = (await nft(ctx, ['list', 'table', familyOf(family), table])).includes(`chain ${chain} {`);
  return verdict(there, `Chain ${chain} in table ${table} in family ${family} ${there ? 'exists' : 'does not exist'}`);
}

/** The first missing object, table or chain; undefined when both exist. */
export async function missing(place: Place, ctx: ModuleContext): Promise<PlainDict | undefined> {
  if (!place.chain) return verdict(false, 'Chain needs to be specified');
  for (const found of [await tableThere(place.table, place.family, ctx), await chainThere(place, ctx)])
    if (!found['result']) return found;
  return undefined;
}

export const listing = (place: Place, ctx: ModuleContext): Promise<string> =>
  nft(ctx, ['--handle', 'list', 'chain', familyOf(place.family), place.table, place.chain]);

export async function ruleThere(place: Place, rule: string, ctx: ModuleContext): Promise<PlainDict> {
  if (!place.chain) return verdict(false, 'Chain needs to be specified');
  if (!rule) return verdict(false, 'Rule needs to be specified');
  const gap = await missing(place, ctx);
  if (gap) return gap;
  const there = hasRule(await listing(place, ctx), rule);
  return verdict(there, `Rule ${rule} in ${where(place)} ${there ? 'exists' : 'does not exist'}`);
}

export async function addRule(
  place: Place,
  rule: string,
  how: readonly string[],
  ctx: ModuleContext,
): Promise<PlainDict> {
  const known = await ruleThere(place, rule, ctx);
  const { table, chain, family } = place;
  if (known['result'])
    return verdict(false, `Rule ${rule} chain ${chain} in table ${table} in family ${family} already exists`);
  if (!pyStr(known['comment'] ?? '').startsWith('Rule ') || !rule) return known;
  const [verb = 'add', ...rest] = how;
  const said = await nft(ctx, [verb, 'rule', familyOf(family), table, chain, ...rest, ...words(rule)]);
  return said
    ? verdict(false, `Failed to add rule "${rule}" ${where(place)}.`)
    : verdict(true, `Added rule "${rule}" ${where(place)}.`);
}

export async function deleteRule(place: Place, rule: string, handle: string, ctx: ModuleContext): Promise<PlainDict> {
  if (handle && rule) return verdict(false, 'Only specify a position or a rule, not both');
  const gap = await missing(place, ctx);
  if (gap) return gap;
  const number = handle || handleOf(await listing(place, ctx), rule);
  if (!number) return verdict(false, `Rule ${rule} ${where(place)} does not exist`);
  const args = ['delete', 'rule', familyOf(place.family), place.table, place.chain, 'handle', number];
  return (await nft(ctx, args))
    ? verdict(
        false,
        `Failed to delete rule "${rule}" in chain ${place.chain}  table ${place.table} in family ${place.family}`,
      )
    : verdict(true, `Deleted rule "${rule}" in ${where(place)}.`);
}

/** Chains and rules as nft gives them in JSON. */
export async function rulesJson(family: string, ctx: ModuleContext): Promise<PlainDict[]> {
  const args = ['--numeric', '--numeric', '--numeric', '--json', 'list', 'ruleset', familyOf(family)];
  const { stdout } = await askTool(ctx, 'nft', args);
  try {
    return (JSON.parse(stdout) as { nftables: PlainDict[] }).nftables ?? [];
  } catch {
    return [];
  }
}

export async function chainInfo({ table, chain, family }: Place, ctx: ModuleContext): Promise<PlainDict | undefined> {
  const chains = (await rulesJson(family, ctx)).flatMap((item) =>
    item['chain'] === undefined ? [] : [item['chain'] as PlainDict],
  );
  return chains.find((found) => found['name'] === chain && found['table'] === table);
}

export async function tableNames(family: string, ctx: ModuleContext): Promise<PlainDict[]> {
  const { stdout } = await askTool(ctx, 'nft', ['--json', 'list', 'tables', familyOf(family)]);
  try {
    const { nftables = [] } = JSON.parse(stdout) as { nftables?: PlainDict[] };
    return nftables.flatMap((item) => (item['table'] === undefined ? [] : [item['table'] as PlainDict]));
  } catch {
    return [];
  }
}

export async function tableTexts(family: string, ctx: ModuleContext): Promise<string[]> {
  const found: string[] = [];
  for (const { name } of await tableNames(family, ctx)) {
    const args = ['--numeric', '--numeric', '--numeric', 'list', 'table', familyOf(family), pyStr(name as Value)];
    found.push(await nft(ctx, args));
  }
  return found;
}

export async function keep(filename: string | null, ctx: ModuleContext): Promise<string> {
  let text = '#! nft -f\n';
  for (const family of allFamilies) {
    const texts = await tableTexts(family, ctx);
    if (texts.length > 0) text += `\n${texts.join('\n')}`;
  }
  text += '\n';
  const asked = filename || '/etc/nftables';
  const file = isDirectory(asked) ? `${asked}/salt-all-in-one.nft` : asked;
  try {
    writeFileSync(file, text);
  } catch (error) {
    throw commandError(`Problem writing to configuration file: ${messageOf(error)}`);
  }
  return text;
}
