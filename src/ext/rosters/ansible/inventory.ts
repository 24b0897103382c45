// Groups, hosts and their variables.
import {
  asDict,
  asList,
  type Dict,
  dictEntries,
  dictGet,
  HaliteError,
  newDict,
  type PlainDict,
  pyStr,
  type Value,
} from 'halite/sdk';

interface Group {
  readonly hosts: Set<string>;
  readonly children: Set<string>;
  readonly variables: PlainDict;
}

const mostDepth = 50;

export class Inventory {
  readonly #groups = new Map<string, Group>();
  readonly #variables = new Map<string, PlainDict>();
  /** Members of groups, once everything was read. */
  readonly #known = new Map<string, Set<string>>();

  group(name: string): Group {
    const known = this.#groups.get(name) ?? { hosts: new Set(), children: new Set(), variables: newDict() };
    this.#groups.set(name, known);
    return known;
  }

  addHost(group: string, host: string, variables: PlainDict = newDict()): void {
    this.group(group).hosts.add(host);
    this.#variables.set(host, Object.assign(this.#variables.get(host) ?? newDict(), variables));
  }

  hosts(): string[] {
    return [...new Set([...this.#groups.values()].flatMap(({ hosts }) => [...hosts]))];
  }

  /** With those of its children; `all` has every host. */
  membersOf(name: string): string[] {
    return name === 'all' ? this.hosts() : [...this.#members(name)];
  }

  /** Groups may name each other in a circle, and the same child many times. */
  #members(name: string): Set<string> {
    const known = this.#known.get(name);
    if (known) return known;
    const found = new Set<string>();
    const seen = new Set<string>();
    const open = [name];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const group = this.#groups.get(next);
      if (!group || seen.has(next)) continue;
      seen.add(next);
      for (const host of group.hosts) found.add(host);
      open.push(...[...group.children].reverse());
    }
    this.#known.set(name, found);
    return found;
  }

  /** Those of outer groups first: the nearest one counts. */
  variablesOf(host: string): PlainDict {
    const groups = [...this.#groups].filter(([name]) => name === 'all' || this.#members(name).has(host));
    const size = ([name]: (typeof groups)[number]): number => (name === 'all' ? Infinity : this.#members(name).size);
    groups.sort((a, b) => size(b) - size(a));
    return Object.assign(newDict(), ...groups.map(([, { variables }]) => variables), this.#variables.get(host));
  }
}

const plain = (value: Value | undefined): PlainDict =>
  newDict(dictEntries(asDict(value) ?? newDict()).map(([key, each]): [string, Value] => [pyStr(key), each]));

const notOne = (file: string): HaliteError =>
  new HaliteError('config.syntax', `${file} is not an inventory of Ansible`);

/** The JSON of `--list`. */
export function readListing(file: string, value: Value): Inventory {
  const groups = asDict(value);
  if (!groups) throw notOne(file);
  const inventory = new Inventory();
  const about = asDict(dictGet(asDict(dictGet(groups, '_meta')) ?? newDict(), 'hostvars')) ?? newDict();
  for (const [key, content] of dictEntries(groups)) {
    const name = pyStr(key);
    if (name === '_meta') continue;
    const group = asDict(content);
    const hosts = asList(group ? dictGet(group, 'hosts') : content) ?? [];
    for (const host of hosts) inventory.addHost(name, pyStr(host), plain(dictGet(about, host)));
    if (!group) continue;
    for (const child of asList(dictGet(group, 'children')) ?? []) inventory.group(name).children.add(pyStr(child));
    Object.assign(inventory.group(name).variables, plain(dictGet(group, 'vars')));
  }
  return inventory;
}

/** The YAML form: groups with maps of hosts, children and vars. */
export function readTree(file: string, value: Value): Inventory {
  const inventory = new Inventory();
  const walk = (groups: Dict, depth: number): void => {
    for (const [key, content] of dictEntries(groups)) {
      const name = pyStr(key);
      const group = asDict(content) ?? newDict();
      for (const [host, variables] of dictEntries(asDict(dictGet(group, 'hosts')) ?? newDict()))
        inventory.addHost(name, pyStr(host), plain(variables));
      Object.assign(inventory.group(name).variables, plain(dictGet(group, 'vars')));
      const children = asDict(dictGet(group, 'children')) ?? newDict();
      for (const [child] of dictEntries(children)) inventory.group(name).children.add(pyStr(child));
      if (depth > 0) walk(children, depth - 1);
    }
  };
  const groups = asDict(value);
  if (!groups) throw notOne(file);
  walk(groups, mostDepth);
  return inventory;
}
