// Roster `terraform`: hosts that Terraform made, from its state file.
import {
  asDict,
  asList,
  asText,
  type Dict,
  defineRoster,
  dictEntries,
  dictGet,
  dictOf,
  HaliteError,
  newDict,
  type PlainDict,
  type Value,
} from 'halite/sdk';
import { loadJson } from 'halite/sdk/codec';
import { readText } from 'halite/sdk/fs';

const texts = ['host', 'user', 'passwd', 'priv', 'thin_dir', 'sudo_user', 'cmd_umask'];
const flags = ['sudo', 'tty'];
const numbers = ['port', 'timeout'];

/** The fields of a `salt_host` that are fields of a roster entry; old state files have only texts. */
function entryOf(attributes: Dict): PlainDict {
  const entry = newDict();
  for (const name of texts) {
    const value = asText(dictGet(attributes, name));
    if (value) entry[name] = value;
  }
  for (const name of flags) {
    const value = dictGet(attributes, name);
    if (value !== undefined && value !== null) entry[name] = value === true || value === 'true';
  }
  for (const name of numbers) {
    const value = Number(dictGet(attributes, name) ?? Number.NaN);
    if (Number.isSafeInteger(value) && value > 0) entry[name] = value;
  }
  const minionOpts = asDict(dictGet(attributes, 'minion_opts'));
  if (minionOpts) entry['minion_opts'] = minionOpts;
  return entry;
}

function* resourcesOf(state: Dict): Generator<Dict> {
  const isHost = (resource: Dict): boolean => dictGet(resource, 'type') === 'salt_host';
  const dicts = (value: Value | undefined): Dict[] =>
    (asList(value) ?? []).map(asDict).filter((item) => item !== undefined);
  for (const resource of dicts(dictGet(state, 'resources')))
    if (isHost(resource))
      for (const instance of dicts(dictGet(resource, 'instances')))
        yield asDict(dictGet(instance, 'attributes')) ?? newDict();
  // Before Terraform 0.12.
  for (const module of dicts(dictGet(state, 'modules')))
    for (const [, resource] of dictEntries(asDict(dictGet(module, 'resources')) ?? newDict())) {
      const found = asDict(resource);
      const primary = found && isHost(found) ? asDict(dictGet(found, 'primary')) : undefined;
      if (primary) yield asDict(dictGet(primary, 'attributes')) ?? newDict();
    }
}

export default defineRoster({
  name: 'terraform',
  doc: 'The `salt_host` resources of `terraform.tfstate` in the working folder, or of `--roster-file`.',
  async targets(_target, ctx) {
    const file = asText(ctx.opts['roster_file']) || 'terraform.tfstate';
    if (!file.endsWith('.tfstate'))
      throw new HaliteError('config.value', `${file} is not a state file of Terraform (.tfstate)`);
    const text = readText(file);
    if (text === undefined) throw new HaliteError('config.missing', `Can't find terraform state file '${file}'`);
    const state = asDict(loadJson(text));
    if (!state) throw new HaliteError('config.syntax', `${file} is not a state file of Terraform`);
    const hosts = new Map<string, PlainDict>();
    for (const attributes of resourcesOf(state)) {
      const id = asText(dictGet(attributes, 'salt_id')) ?? asText(dictGet(attributes, 'id'));
      if (id) hosts.set(id, entryOf(attributes));
    }
    return dictOf(ctx.matching([...hosts.keys()]).map((id) => [id, hosts.get(id) ?? null]));
  },
});
