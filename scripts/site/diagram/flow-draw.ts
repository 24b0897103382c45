// Draws a flowchart as SVG. Colours come from the style of the page.
import { escapeHtml } from '../markdown/inline.ts';
import { type Box, layOut } from './flow-layout.ts';
import type { Flow, FlowEdge } from './flow-read.ts';
import { lineHeight, widthOf } from './text.ts';

const round = (number: number): number => Math.round(number * 10) / 10;

export function drawFlow(flow: Flow): string {
  const all = layOut(flow);
  const boxes = new Map<string, Box>();
  const collect = (box: Box): void => {
    boxes.set(box.id, box);
    box.inside?.forEach(collect);
  };
  collect(all);
  const groups = [...boxes.values()].filter((box) => box.inside && box.id !== '').map(groupSvg);
  const nodes = [...flow.nodes.values()].map(({ id, shape }) => nodeSvg(boxes.get(id)!, shape));
  const lines = flow.edges.map((edge) => lineSvg(edge, boxes, flow.across));
  const labels = flow.edges.map((edge) => labelSvg(edge, boxes, flow.across));
  return svg(all.width, all.height, [...groups, ...lines, ...nodes, ...labels].join('\n'));
}

export const svg = (width: number, height: number, inside: string): string =>
  `<svg${width > 1050 ? ' class="wide"' : ''} viewBox="0 0 ${round(width)} ${round(height)}" width="${round(width)}" height="${round(height)}" aria-hidden="true">${inside}</svg>`;

export function textSvg(lines: readonly string[], x: number, y: number, name = ''): string {
  const first = y - ((lines.length - 1) * lineHeight) / 2 + 4.5;
  return lines
    .map(
      (line, index) =>
        `<text${name === '' ? '' : ` class="${name}"`} x="${round(x)}" y="${round(first + index * lineHeight)}">${escapeHtml(line)}</text>`,
    )
    .join('');
}

const groupSvg = (box: Box): string =>
  `<rect class="group" x="${round(box.x)}" y="${round(box.y)}" width="${round(box.width)}" height="${round(box.height)}" rx="9"/>${textSvg(box.lines, box.x + box.width / 2, box.y + 16, 'group-name')}`;

function nodeSvg(box: Box, shape: 'box' | 'store'): string {
  const { x, y, width, height } = box;
  const corners = shape === 'store' ? height / 2 : 6;
  return `<rect class="node ${shape}" x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}" rx="${round(corners)}"/>${textSvg(box.lines, x + width / 2, y + height / 2)}`;
}

interface Point {
  readonly x: number;
  readonly y: number;
}

const apart = 0.5;

/** Where a line leaves one box and reaches the other, and the points that bend it. */
function course(edge: FlowEdge, boxes: ReadonlyMap<string, Box>, across: boolean): Point[] | undefined {
  const [from, to] = [boxes.get(edge.from), boxes.get(edge.to)];
  if (!from || !to) return undefined;
  const middle = (box: Box): Point => ({ x: box.x + box.width / 2, y: box.y + box.height / 2 });
  const [a, b] = [middle(from), middle(to)];
  const beside = across
    ? to.x < from.x + from.width && from.x < to.x + to.width
    : to.y < from.y + from.height && from.y < to.y + to.height;
  // Along the direction of the chart, or across it between neighbours of one rank.
  const horizontal = beside ? !across : across;
  const size = horizontal ? 'width' : 'height';
  const axis = horizontal ? 'x' : 'y';
  const sign = b[axis] > a[axis] ? 1 : -1;
  const start = { ...a, [axis]: a[axis] + (sign * from[size]) / 2 };
  const end = { ...b, [axis]: b[axis] - (sign * to[size]) / 2 - (edge.arrow ? sign * 7 : 0) };
  // The way back is beside the way there.
  const other = horizontal ? 'y' : 'x';
  if (sign < 0) {
    start[other] += 12;
    end[other] += 12;
  }
  const bend = (end[axis] - start[axis]) * apart;
  return [start, { ...start, [axis]: start[axis] + bend }, { ...end, [axis]: end[axis] - bend }, end];
}

function lineSvg(edge: FlowEdge, boxes: ReadonlyMap<string, Box>, across: boolean): string {
  const points = course(edge, boxes, across);
  if (!points) return '';
  const [start, one, two, end] = points.map(({ x, y }) => `${round(x)} ${round(y)}`);
  const line = `<path class="edge${edge.dashed ? ' dashed' : ''}" d="M${start} C${one} ${two} ${end}"/>`;
  return edge.arrow ? line + arrowHead(points[3]!, points[2]!) : line;
}

export function arrowHead(tip: Point, from: Point): string {
  const length = Math.hypot(tip.x - from.x, tip.y - from.y) || 1;
  const [x, y] = [(tip.x - from.x) / length, (tip.y - from.y) / length];
  const at = (along: number, aside: number): string =>
    `${round(tip.x + x * along - y * aside)} ${round(tip.y + y * along + x * aside)}`;
  return `<path class="head" d="M${at(7, 0)} L${at(0, 4)} L${at(0, -4)} Z"/>`;
}

function labelSvg(edge: FlowEdge, boxes: ReadonlyMap<string, Box>, across: boolean): string {
  const points = course(edge, boxes, across);
  if (!points || edge.label === '') return '';
  const { x, y } = across ? pointAt(points, between(edge, boxes)) : pointAt(points, undefined);
  const width = widthOf(edge.label) * 0.9 + 8;
  // The label of the way back is below that of the way there.
  const middle = points[3]!.x < points[0]!.x ? y + 13 : y;
  return `<rect class="label" x="${round(x - width / 2)}" y="${round(middle - 9)}" width="${round(width)}" height="18" rx="4"/>${textSvg([edge.label], x, middle, 'small')}`;
}

/** The middle of the space between the outermost boxes that hold one end of the line and not the other. */
function between(edge: FlowEdge, boxes: ReadonlyMap<string, Box>): number | undefined {
  const holders = (id: string): Box[] => [...boxes.values()].filter((box) => box.id !== '' && holds(box, id));
  const [from, to] = [holders(edge.from), holders(edge.to)];
  const [start] = from.filter((box) => !to.includes(box)).sort((a, b) => b.width - a.width);
  const [end] = to.filter((box) => !from.includes(box)).sort((a, b) => b.width - a.width);
  if (!start || !end) return undefined;
  const [left, right] = start.x < end.x ? [start, end] : [end, start];
  return left.x + left.width < right.x ? (left.x + left.width + right.x) / 2 : undefined;
}

const holds = (box: Box, id: string): boolean => box.id === id || (box.inside ?? []).some((each) => holds(each, id));

/** The point of the curve with this x, or its middle. */
function pointAt(points: readonly Point[], x: number | undefined): Point {
  const at = (t: number, axis: 'x' | 'y'): number => {
    const [a, b, c, d] = points.map((point) => point[axis]) as [number, number, number, number];
    return (1 - t) ** 3 * a + 3 * (1 - t) ** 2 * t * b + 3 * (1 - t) * t ** 2 * c + t ** 3 * d;
  };
  const rising = points[3]!.x > points[0]!.x;
  let [low, high] = [0, 1];
  for (let step = 0; step < 30 && x !== undefined; step++) {
    const middle = (low + high) / 2;
    if (at(middle, 'x') < x === rising) low = middle;
    else high = middle;
  }
  const t = x === undefined ? 0.5 : (low + high) / 2;
  return { x: at(t, 'x'), y: at(t, 'y') };
}
