// XML as Salt turns it into dictionaries: names of elements as keys, texts as values, attributes left out.
import { dictGet, newDict, oneOrMore, type PlainDict } from 'halite/sdk';

interface Element {
  readonly name: string;
  readonly children: Element[];
  text: string | null;
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
const maxDepth = 500;

function unescaped(text: string): string {
  return text.replace(/&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi, (whole, hex?: string, decimal?: string, name?: string) => {
    if (name !== undefined) return entities[name] ?? whole;
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}

/** `x:name` → `name`, because Salt drops namespaces. */
const localName = (name: string): string => name.slice(name.indexOf(':') + 1);

/** The root element. Throws for invalid XML; entity declarations are ignored. */
export function parseXml(source: string): Element {
  const root: Element = { name: '', children: [], text: null };
  const stack: Element[] = [root];
  const token =
    /<!--[\s\S]*?-->|<\?[\s\S]*?\?>|<!\[CDATA\[([\s\S]*?)\]\]>|<!DOCTYPE(?:[^>[]|\[[^\]]*\])*>|<\/\s*([^\s>]+)\s*>|<([^\s/>!?]+)((?:\s+[^\s=>/]+\s*=\s*(?:"[^"]*"|'[^']*'))*)\s*(\/?)>|([^<]+)/gy;
  while (token.lastIndex < source.length) {
    const match = token.exec(source);
    if (!match) throw new Error('not well-formed (invalid token)');
    const [, data, closed, opened, , empty, text] = match;
    const top = stack.at(-1) as Element;
    if (closed !== undefined) {
      if (top.name !== localName(closed) || stack.length === 1) throw new Error('mismatched tag');
      stack.pop();
    } else if (opened !== undefined) {
      const element: Element = { name: localName(opened), children: [], text: null };
      top.children.push(element);
      if (empty !== '/') stack.push(element);
      if (stack.length > maxDepth) throw new Error('too deep');
    } else {
      const words = data ?? (text === undefined ? undefined : unescaped(text));
      // Text after a child belongs to the child and is not shown.
      if (words !== undefined && stack.length > 1 && top.children.length === 0) top.text = `${top.text ?? ''}${words}`;
    }
  }
  const only = root.children[0];
  if (stack.length !== 1 || !only || root.children.length > 1) throw new Error('no element found');
  return only;
}

/** One element as a dictionary. */
export function xmlToDict(element: Element): PlainDict {
  const found = newDict();
  if (element.children.length === 0) {
    found[element.name] = element.text;
    return found;
  }
  for (const child of element.children) {
    const before = dictGet(found, child.name);
    if (before === undefined) found[child.name] = child.children.length > 0 ? xmlToDict(child) : child.text;
    else found[child.name] = [...oneOrMore(before), xmlToDict(child)];
  }
  return found;
}
