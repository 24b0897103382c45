// A state graph in the language of Graphviz.
import { labelOf, type StateGraph } from './model.ts';

const quote = (text: string): string =>
  `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`;

const looks: Readonly<Record<string, string>> = {
  watch: 'color="#1f77b4"',
  prereq: 'color="#9467bd"',
  onfail: 'color="#d62728"',
  onchanges: 'color="#2ca02c"',
  listen: 'style=dotted',
};

/** One cluster per SLS, one arrow per requisite from the earlier to the later state. */
export function toDot({ nodes, edges }: StateGraph): string {
  const lines = ['digraph states {', '  rankdir=LR;', '  node [shape=box, style=rounded, fontname="sans-serif"];'];
  let cluster = 0;
  for (const [sls, members] of groupBySls(nodes)) {
    lines.push(`  subgraph cluster_${cluster++} {`, `    label=${quote(sls)};`);
    for (const node of members) lines.push(`    s${node.key} [label=${quote(labelOf(node).join('\n'))}];`);
    lines.push('  }');
  }
  for (const { from, to, requisite } of edges) {
    const look = looks[requisite.replace(/_(?:any|all)$/, '')];
    lines.push(`  s${from} -> s${to} [label=${quote(requisite)}${look ? `, ${look}` : ''}];`);
  }
  return `${[...lines, '}'].join('\n')}\n`;
}

function groupBySls(nodes: StateGraph['nodes']): Map<string, StateGraph['nodes'][number][]> {
  const groups = new Map<string, StateGraph['nodes'][number][]>();
  for (const node of nodes) {
    const group = groups.get(node.sls);
    if (group) group.push(node);
    else groups.set(node.sls, [node]);
  }
  return groups;
}
