// A state graph as an SVG image.
import { layoutGraph, type Placed } from './layout.ts';
import { labelOf, type StateGraph } from './model.ts';

const boxWidth = 220;
const boxHeight = 56;
const gapX = 110;
const gapY = 24;
const margin = 24;
const longestLabel = 32;

const colors: Readonly<Record<string, string>> = {
  require: '#555555',
  watch: '#1f77b4',
  prereq: '#9467bd',
  onfail: '#d62728',
  onchanges: '#2ca02c',
  listen: '#888888',
};

const escaped = (text: string): string =>
  // XML forbids control characters.
  text.replace(/[\x00-\x08\x0b\x0c\x0e-\x1f]/g, '').replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`);
const short = (text: string): string => (text.length > longestLabel ? `${text.slice(0, longestLabel - 1)}…` : text);

const left = ({ column }: Placed): number => margin + column * (boxWidth + gapX);
const top = ({ row }: Placed): number => margin + row * (boxHeight + gapY);

/** Boxes in columns, arrows from earlier to later states; the SLS and full name are shown on hovering. */
export function toSvg(graph: StateGraph): string {
  const places = layoutGraph(graph);
  const width = Math.max(0, ...places.map(left)) + boxWidth + margin;
  const height = Math.max(0, ...places.map(top)) + boxHeight + margin;
  const lines = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">`,
    '<defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="#555555"/></marker></defs>',
    ...graph.edges.map((edge) => arrow(edge, places)),
    ...graph.nodes.map((node) => box(node, places[node.key]!)),
    '</svg>',
  ];
  return `${lines.join('\n')}\n`;
}

function arrow({ from, to, requisite }: StateGraph['edges'][number], places: readonly Placed[]): string {
  const [x1, y1] = [left(places[from]!) + boxWidth, top(places[from]!) + boxHeight / 2];
  const [x2, y2] = [left(places[to]!), top(places[to]!) + boxHeight / 2];
  const bend = Math.max(40, Math.abs(x2 - x1) / 2);
  const color = colors[requisite.replace(/_(?:any|all)$/, '')] ?? colors['require'];
  const dash = requisite === 'listen' ? ' stroke-dasharray="4 3"' : '';
  const path = `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
  return `<path d="${path}" fill="none" stroke="${color}"${dash} marker-end="url(#arrow)"><title>${escaped(requisite)}</title></path>`;
}

function box(node: StateGraph['nodes'][number], place: Placed): string {
  const [x, y] = [left(place), top(place)];
  const labels = labelOf(node);
  const step = boxHeight / (labels.length + 1);
  const texts = labels.map((label, at) => {
    const weight = at === 0 ? ' font-weight="bold"' : '';
    return `<text x="${x + boxWidth / 2}" y="${y + step * (at + 1) + 4}" text-anchor="middle"${weight}>${escaped(short(label))}</text>`;
  });
  const title = `<title>${escaped(`${node.sls}: ${labels.join(' · ')}`)}</title>`;
  const rect = `<rect x="${x}" y="${y}" width="${boxWidth}" height="${boxHeight}" rx="6" fill="#f5f7fa" stroke="#4a5568"/>`;
  return `<g>${title}${rect}${texts.join('')}</g>`;
}
