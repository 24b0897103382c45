// Reads a flowchart: nodes, arrows, and groups inside groups.

export interface FlowNode {
  readonly id: string;
  label: string;
  shape: 'box' | 'store';
  group: string | undefined;
}
export interface FlowGroup {
  readonly id: string;
  readonly label: string;
  readonly parent: string | undefined;
}
export interface FlowEdge {
  readonly from: string;
  readonly to: string;
  readonly label: string;
  readonly arrow: boolean;
  readonly dashed: boolean;
}
export interface Flow {
  readonly across: boolean;
  readonly nodes: ReadonlyMap<string, FlowNode>;
  readonly groups: ReadonlyMap<string, FlowGroup>;
  readonly edges: readonly FlowEdge[];
}

const nodeText = /^\s*([\w-]+?)(?:\[\("?([^"]*?)"?\)\]|\["?([^"\]]*?)"?\]|\("?([^")]*?)"?\))?(?=\s|$|--|-\.|==)/;
const arrowText = /^\s*(?:(-->|---|-\.->|==>)|(--|-\.|==)\s*"?([^"]*?)"?\s*(-->|---|\.->|==>))/;

/** Undefined when it is not a flowchart, or has a line that is not understood. */
export function readFlow(text: string): Flow | undefined {
  const [first = '', ...lines] = text.trim().split('\n');
  const direction = /^(?:flowchart|graph)\s+(LR|TD|TB)\s*$/.exec(first.trim())?.[1];
  if (direction === undefined) return undefined;
  const reader = new FlowReader();
  for (const line of lines) if (line.trim() !== '' && !reader.add(line.trim())) return undefined;
  return { across: direction === 'LR', nodes: reader.nodes, groups: reader.groups, edges: reader.edges };
}

class FlowReader {
  readonly nodes = new Map<string, FlowNode>();
  readonly groups = new Map<string, FlowGroup>();
  readonly edges: FlowEdge[] = [];
  readonly #open: string[] = [];

  /** False for a line that is not understood. */
  add(line: string): boolean {
    if (line === 'end') return this.#open.pop() !== undefined;
    const group = /^subgraph\s+([\w-]+)(?:\s*\["?([^"\]]*)"?\])?$/.exec(line);
    if (group) {
      this.groups.set(group[1]!, { id: group[1]!, label: group[2] ?? group[1]!, parent: this.#open.at(-1) });
      this.#open.push(group[1]!);
      return true;
    }
    return this.#chain(line);
  }

  #chain(line: string): boolean {
    let rest = line;
    let from: string | undefined;
    let arrow: RegExpExecArray | null = null;
    do {
      const node = nodeText.exec(rest);
      if (!node) return false;
      const id = this.#node(node);
      if (from !== undefined && arrow) this.edges.push(edgeOf(from, id, arrow));
      from = id;
      rest = rest.slice(node[0].length);
      arrow = arrowText.exec(rest);
      if (!arrow) return rest.trim() === '';
      rest = rest.slice(arrow[0].length);
    } while (rest.trim() !== '');
    return false;
  }

  #node([, id = '', store, box, round]: RegExpExecArray): string {
    if (this.groups.has(id)) return id;
    const label = store ?? box ?? round;
    const known = this.nodes.get(id);
    if (!known) {
      this.nodes.set(id, {
        id,
        label: label ?? id,
        shape: store === undefined ? 'box' : 'store',
        group: this.#open.at(-1),
      });
    } else if (label !== undefined) {
      known.label = label;
      if (store !== undefined) known.shape = 'store';
    }
    return id;
  }
}

function edgeOf(from: string, to: string, arrow: RegExpExecArray): FlowEdge {
  const [, plain, , label = '', end = ''] = arrow;
  const kind = plain ?? end;
  return { from, to, label: label.trim(), arrow: kind.endsWith('>'), dashed: kind.includes('.') };
}
