// Runs firewall-cmd; helpers shared by several functions of `firewalld`.
import { commandError, type ModuleContext, newDict, type PlainDict, p, type Value } from 'halite/sdk';
import { runTool } from 'halite/sdk/system';
import { lines, splitTimes } from 'halite/sdk/text';

export async function ask(ctx: ModuleContext, ...args: string[]): Promise<string> {
  const { retcode, stdout, stderr } = await runTool(ctx, 'firewall-cmd', args);
  if (retcode !== 0) throw commandError(`firewall-cmd failed: ${(stderr || stdout).trimEnd()}`);
  return stdout.trimEnd();
}

export const lasting = (permanent: boolean): string[] => (permanent ? ['--permanent'] : []);
export const inZone = (zone: string | null): string[] => (zone ? [`--zone=${zone}`] : []);

export const permanent = p.bool({ default: true, doc: 'in the permanent configuration' });
export const zone = p.string({ doc: 'the zone' });
export const someZone = p.string({ default: null, doc: 'the zone; by default the default one' });
export const restart = p.bool({ default: true, doc: 'load it now' });

export async function manage(option: string, isNew: boolean, reload: boolean, ctx: ModuleContext): Promise<string> {
  const said = await ask(ctx, `--${isNew ? 'new' : 'delete'}-${option}`, '--permanent');
  return reload && said === 'success' ? ask(ctx, '--reload') : said;
}

export async function masquerades(of: string | null, isPermanent: boolean, ctx: ModuleContext): Promise<boolean> {
  const zones = parseZones(await ask(ctx, ...inZone(of), '--list-all', ...lasting(isPermanent)));
  return !Object.values(zones).some(
    (found) => ((found as PlainDict)['masquerade'] as Value[] | undefined)?.[0] === 'no',
  );
}

/** Zone → setting → lines. */
export function parseZones(text: string): PlainDict {
  const zones = newDict();
  let zone = newDict();
  let key = '';
  for (const line of lines(text)) {
    if (line.trim() === '') continue;
    if (/^[a-z0-9]/i.test(line)) {
      zone = newDict();
      zones[line.trimEnd()] = zone;
    } else if (line.startsWith('\t')) (zone[key] as Value[]).push(line.trim());
    else {
      const [name = '', value = ''] = splitTimes(line, ':', 1);
      key = name.trim();
      zone[key] = [value.trim()];
    }
  }
  return zones;
}
